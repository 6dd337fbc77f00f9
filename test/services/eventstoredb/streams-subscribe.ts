/** Subscriptions: a confirmation, what is stored, the caught-up mark, and then what is appended. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerWritableStream, type StatusObject, status } from '@grpc/grpc-js';
import { type Context, forEver, notReady, RpcError, send } from './calls.js';
import type { EndSubscription } from './faults.js';
import { eventMessage, streams } from './messages.js';
import type { ServerVersion } from './own-server.js';
import type { StoredData, StoredEvent } from './stored-data.js';

/** The server's own search window. */
const WINDOW = 32;
const BEFORE_ALL = -1n;

interface Source {
  /** The index of the first record to look at. */
  readonly first: number;
  /** Records up to this position are passed over. */
  readonly after: bigint;
  readonly isWanted: (event: StoredEvent) => boolean;
  /** A checkpoint comes after so many records, wanted or not. */
  readonly checkpointEvery: number;
}

/** Returns where it was ended cleanly. @throws what it was dropped with */
export async function subscribe(
  context: Context,
  call: ServerWritableStream<ReadReq, ReadResp>,
  options: ReadReq.Options,
  gone: AbortSignal,
): Promise<void> {
  const { faults } = context;
  if (faults.isNotReady) throw notReady();
  const ended = new AbortController();
  let dropped: Partial<StatusObject> | undefined;
  const end: EndSubscription = (error) => {
    dropped = error;
    ended.abort();
  };
  faults.running.add(end);
  try {
    await run(context, call, sourceOf(context, options), AbortSignal.any([gone, ended.signal]));
  } catch (error) {
    if (!ended.signal.aborted) throw error;
    if (dropped) throw dropped;
  } finally {
    faults.running.delete(end);
  }
}

async function run(
  context: Context,
  call: ServerWritableStream<ReadReq, ReadResp>,
  source: Source,
  signal: AbortSignal,
): Promise<never> {
  const give = async (message: ReadResp) => {
    if (context.faults.silentCalls.has('subscribe')) await forEver(signal);
    await send(call, message, signal);
  };
  await give(confirmation());
  const feed = new Feed(context, source, give);
  for (let index = source.first; ; index += 1) {
    if (index >= context.data.log.length) {
      await feed.end();
      await longer(context, index, signal);
    }
    const event = recordAt(context.data, index, source.after);
    if (event) await feed.record(event, index);
  }
}

/** catching up -> live -> (too slow) -> catching up ... */
class Feed {
  readonly #context: Context;
  readonly #source: Source;
  readonly #give: (message: ReadResp) => Promise<void>;
  #isLive = false;
  #behinds: number;
  #looked = 0;

  constructor(context: Context, source: Source, give: (message: ReadResp) => Promise<void>) {
    this.#context = context;
    this.#source = source;
    this.#give = give;
    this.#behinds = context.faults.behinds;
  }

  async end(): Promise<void> {
    if (!this.#isLive) await this.#give(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
    this.#isLive = true;
  }

  async record(event: StoredEvent, index: number): Promise<void> {
    this.#mayFallBehind();
    const { isWanted, checkpointEvery } = this.#source;
    if (isWanted(event)) await this.#give(eventMessage(event));
    this.#looked += 1;
    if (this.#looked % checkpointEvery > 0) return;
    const { position } = event;
    await this.#give(this.#isLive ? checkpoint(position) : checkpointOnTheWay(this.#context, event, index));
  }

  /** Without a word: the second caught-up mark shows it. */
  #mayFallBehind(): void {
    const { behinds } = this.#context.faults;
    if (this.#behinds < behinds) this.#isLive = false;
    this.#behinds = behinds;
  }
}

/** Undefined for one that is passed over. */
function recordAt(data: StoredData, index: number, after: bigint): StoredEvent | undefined {
  const event = data.log[index];
  return event && event.position > after && !data.isScavenged(event) ? event : undefined;
}

/** Not by a log that is kept: a member that is cut off has one of its own, and gets the cluster's back later. */
async function longer(context: Context, than: number, signal: AbortSignal): Promise<void> {
  while (than >= context.data.log.length) await once(context.data.appends, 'append', { signal });
}

/** Of $all: nobody subscribes to a single stream. */
function sourceOf(context: Context, options: ReadReq.Options): Source {
  const filter = options.getFilter();
  const every = filter ? (filter.getMax() || WINDOW) * filter.getCheckpointintervalmultiplier() : Infinity;
  return {
    ...startOf(context, options.getAll()),
    isWanted: filter ? matches(filter) : () => true,
    checkpointEvery: every,
  };
}

type Start = Pick<Source, 'first' | 'after'>;

/** The event at the position is not given again: but it stands behind the position `commit/0`. */
function startOf({ data, version }: Context, from: ReadReq.Options.AllOptions | undefined): Start {
  if (from?.hasEnd()) return { first: data.log.length, after: BEFORE_ALL };
  if (!from?.hasPosition()) return { first: 0, after: BEFORE_ALL };
  const commit = BigInt(from.getPosition()?.getCommitPosition() ?? 0);
  const prepare = BigInt(from.getPosition()?.getPreparePosition() ?? 0);
  const first = data.indexOf(commit);
  if (first === null) throw insideAnEvent(version);
  if (first === data.log.length) throw new RpcError(status.UNIMPLEMENTED, 'No subscription begins beyond the end');
  return { first, after: prepare < commit ? commit - 1n : commit };
}

function insideAnEvent(version: ServerVersion): RpcError {
  switch (version) {
    case '23.10':
      return new RpcError(status.UNKNOWN, 'Unexpected FilteredReadAllResult: Error');
    case '25':
      return new RpcError(status.INVALID_ARGUMENT, 'InvalidPosition');
    default:
      return version satisfies never;
  }
}

function matches(filter: ReadReq.Options.FilterOptions): Source['isWanted'] {
  const prefixes = filter.getStreamIdentifier()?.getPrefixList() ?? [];
  return ({ stream }) => prefixes.some((prefix) => stream.startsWith(prefix));
}

function confirmation(): ReadResp {
  const message = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID());
  return new streams.ReadResp().setConfirmation(message);
}

/** While it catches up: 23.10 gives commit/0, and 25 the place behind the record, which may be the log's end. */
function checkpointOnTheWay({ data, version }: Context, { position }: StoredEvent, index: number): ReadResp {
  switch (version) {
    case '23.10':
      return checkpoint(position, 0n);
    case '25':
      return checkpoint(data.log[index + 1]?.position ?? data.end);
    default:
      return version satisfies never;
  }
}

function checkpoint(commit: bigint, prepare = commit): ReadResp {
  const message = new streams.ReadResp.Checkpoint().setCommitPosition(`${commit}`).setPreparePosition(`${prepare}`);
  return new streams.ReadResp().setCheckpoint(message);
}
