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

interface Source {
  /** It grows. */
  readonly events: readonly StoredEvent[];
  /** The index of the first one to give. */
  readonly first: number;
  readonly isWanted: (event: StoredEvent) => boolean;
  /** A checkpoint comes after so many events, wanted or not. */
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
  { data, faults }: Context,
  call: ServerWritableStream<ReadReq, ReadResp>,
  { events, first, isWanted, checkpointEvery }: Source,
  signal: AbortSignal,
): Promise<never> {
  const give = async (message: ReadResp) => {
    if (faults.isSilent('subscribe')) await forEver(signal);
    await send(call, message, { signal, slowMs: faults.slowMs });
  };
  await give(confirmation());
  let isCaughtUp = false;
  for (let index = first, looked = 0; ; index += 1, looked += 1) {
    if (looked === checkpointEvery) {
      looked = 0;
      await give(checkpoint(events[index - 1]?.position ?? 0n));
    }
    while (index >= events.length) {
      if (!isCaughtUp) await give(new streams.ReadResp().setCaughtUp(new streams.ReadResp.CaughtUp()));
      isCaughtUp = true;
      if (index >= events.length) await once(data.appends, 'append', { signal });
    }
    const event = events[index];
    if (event && isWanted(event)) await give(eventMessage(event));
  }
}

function sourceOf(data: StoredData, options: ReadReq.Options): Source {
  return options.hasAll() ? allSource(data, options) : streamSource(data, options);
}

function allSource(data: StoredData, options: ReadReq.Options): Source {
  const filter = options.getFilter();
  const every = filter ? (filter.getMax() || WINDOW) * filter.getCheckpointintervalmultiplier() : Infinity;
  return {
    events: data.log,
    first: indexAfter(data, options.getAll()),
    isWanted: filter ? matches(filter) : () => true,
    checkpointEvery: every,
  };
}

/** The event at the position is not given again. */
function indexAfter(data: StoredData, from: ReadReq.Options.AllOptions | undefined): number {
  if (from?.hasEnd()) return data.log.length;
  if (!from?.hasPosition()) return 0;
  const index = data.indexOf(BigInt(from.getPosition()?.getCommitPosition() ?? 0));
  if (index === null) throw new RpcError(status.UNKNOWN, 'Exception was thrown by handler. InvalidReadException');
  return Math.min(index + 1, data.log.length);
}

function streamSource(data: StoredData, options: ReadReq.Options): Source {
  const from = options.getStream() ?? new streams.ReadReq.Options.StreamOptions();
  const stream = streamName(from.getStreamIdentifier());
  if (data.isTombstoned(stream)) throw streamDeleted(stream);
  const hidden = data.firstReadable(stream) ?? data.lastRevision(stream) + 1;
  const after = from.hasEnd() ? data.lastRevision(stream) : from.hasRevision() ? Number(from.getRevision()) : -1;
  return {
    events: data.log,
    first: 0,
    isWanted: (event) => event.stream === stream && event.revision > after && event.revision >= hidden,
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
