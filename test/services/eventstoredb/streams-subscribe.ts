/** Subscriptions: a confirmation, what is stored, the caught-up mark, and then what is appended. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type ServerWritableStream, type StatusObject, status } from '@grpc/grpc-js';
import { type Context, forEver, notReady, RpcError, send, streamDeleted } from './calls.js';
import { eventMessage, streamName, streams } from './messages.js';
import type { StoredData, StoredEvent } from './stored-data.js';

/** The server's own search window. */
const WINDOW = 32;
const BEFORE_ALL = -1n;

interface Source {
  /** The index of the first record to look at. */
  readonly first: number;
  /** Records up to this position are passed over, also those that are appended later: it may be beyond the end. */
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
  if (context.faults.isNotReady) throw notReady();
  const ended = new AbortController();
  let dropped: Partial<StatusObject> | undefined;
  const stopped = context.faults.running((error) => {
    dropped = error;
    ended.abort();
  });
  try {
    await run(context, call, sourceOf(context.data, options), AbortSignal.any([gone, ended.signal]));
  } catch (error) {
    if (!ended.signal.aborted) throw error;
    if (dropped) throw dropped;
  } finally {
    stopped();
  }
}

async function run(
  context: Context,
  call: ServerWritableStream<ReadReq, ReadResp>,
  { first, after, isWanted, checkpointEvery }: Source,
  signal: AbortSignal,
): Promise<never> {
  const { faults } = context;
  const give = async (message: ReadResp) => {
    if (faults.isSilent('subscribe')) await forEver(signal);
    await send(call, message, { signal, faults });
  };
  await give(confirmation());
  let isCaughtUp = false;
  for (let index = first, looked = 0; ; index += 1) {
    if (index >= context.data.log.length) {
      if (!isCaughtUp) await give(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
      isCaughtUp = true;
      await longer(context, index, signal);
    }
    const event = context.data.log[index];
    if (!event || event.position <= after) continue;
    if (isWanted(event)) await give(eventMessage(event));
    looked += 1;
    if (looked === checkpointEvery) {
      looked = 0;
      await give(checkpoint(event.position));
    }
  }
}

/** Not by a log that is kept: a member that is cut off has one of its own, and gets the cluster's back later. */
async function longer(context: Context, than: number, signal: AbortSignal): Promise<void> {
  while (than >= context.data.log.length) await once(context.data.appends, 'append', { signal });
}

function sourceOf(data: StoredData, options: ReadReq.Options): Source {
  return options.hasAll() ? allSource(data, options) : streamSource(data, options);
}

function allSource(data: StoredData, options: ReadReq.Options): Source {
  const filter = options.getFilter();
  const every = filter ? (filter.getMax() || WINDOW) * filter.getCheckpointintervalmultiplier() : Infinity;
  return {
    ...startOf(data, options.getAll()),
    isWanted: filter ? matches(filter) : () => true,
    checkpointEvery: every,
  };
}

/** The event at the position is not given again. */
function startOf(data: StoredData, from: ReadReq.Options.AllOptions | undefined): Pick<Source, 'first' | 'after'> {
  if (from?.hasEnd()) return { first: data.log.length, after: BEFORE_ALL };
  if (!from?.hasPosition()) return { first: 0, after: BEFORE_ALL };
  const after = BigInt(from.getPosition()?.getCommitPosition() ?? 0);
  const first = data.indexOf(after);
  if (first === null) throw new RpcError(status.UNKNOWN, 'Exception was thrown by handler.');
  return { first, after };
}

function streamSource(data: StoredData, options: ReadReq.Options): Source {
  const from = options.getStream() ?? new streams.ReadReq.Options.StreamOptions();
  const stream = streamName(from.getStreamIdentifier());
  if (data.isTombstoned(stream)) throw streamDeleted(stream);
  const hidden = data.firstReadable(stream) ?? data.lastRevision(stream) + 1;
  const last = from.hasEnd() ? data.lastRevision(stream) : from.hasRevision() ? Number(from.getRevision()) : -1;
  return {
    first: 0,
    after: BEFORE_ALL,
    isWanted: (event) => event.stream === stream && event.revision > last && event.revision >= hidden,
    checkpointEvery: Infinity,
  };
}

function matches(filter: ReadReq.Options.FilterOptions): Source['isWanted'] {
  const expression = filter.getStreamIdentifier() ?? filter.getEventType();
  const regex = expression?.getRegex();
  const prefixes = expression?.getPrefixList() ?? [];
  const fits = regex
    ? (text: string) => new RegExp(regex).test(text)
    : (text: string) => prefixes.some((prefix) => text.startsWith(prefix));
  return filter.hasStreamIdentifier() ? ({ stream }) => fits(stream) : ({ type }) => fits(type);
}

function confirmation(): ReadResp {
  const message = new streams.ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID());
  return new streams.ReadResp().setConfirmation(message);
}

function checkpoint(position: bigint): ReadResp {
  const message = new streams.ReadResp.Checkpoint().setCommitPosition(`${position}`).setPreparePosition(`${position}`);
  return new streams.ReadResp().setCheckpoint(message);
}
