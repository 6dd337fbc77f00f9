/** Read: one method for reads of a stream, reads of $all, and subscriptions to either. */
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type handleServerStreamingCall, status } from '@grpc/grpc-js';
import { answering, type Context, forEver, goneWith, notReady, RpcError, send, streamDeleted } from './calls.js';
import { eventMessage, identifierOf, streamName, streams } from './messages.js';
import { mayRead } from './node-role.js';
import type { ServerVersion } from './own-server.js';
import type { StoredData, StoredEvent } from './stored-data.js';
import { subscribe } from './streams-subscribe.js';

/** What is read at once: a longer read sees what is appended while it goes on. */
const PAGE = 32;
const BACKWARDS = 1;
/** Measured: for so long after its append, a read from inside the newest record returns nothing instead of an error. */
const UNINDEXED_MS = 20;

const REFUSED_POSITION = {
  '23.10': 'Unexpected ReadAllResult: Error',
  '25': 'Unexpected ReadAllResult: InvalidPosition',
} as const;

type Events = Iterable<StoredEvent>;

export function readHandler(context: Context): handleServerStreamingCall<ReadReq, ReadResp> {
  return (call) => {
    const gone = goneWith(call);
    const options = call.request.getOptions() ?? new streams.ReadReq.Options();
    return answering(call, gone, async () => {
      context.access.must(call.metadata, 'read', streamOf(options));
      mayRead(context.nodeRole(), call.metadata);
      if (options.hasSubscription()) return subscribe(context, call, options, gone);
      if (context.faults.silentCalls.has('read')) return forEver(gone);
      if (context.faults.isNotReady) throw notReady();
      for (const message of messages(context, options)) {
        await send(call, message, gone);
      }
    });
  };
}

function streamOf(options: ReadReq.Options): string {
  return options.hasAll() ? '$all' : streamName(options.getStream()?.getStreamIdentifier());
}

function* messages({ data, version }: Context, options: ReadReq.Options): Iterable<ReadResp> {
  const stream = streamName(options.getStream()?.getStreamIdentifier());
  if (data.isTombstoned(stream)) throw streamDeleted(stream);
  if (options.hasStream() && data.firstReadable(stream) === null) {
    yield new streams.ReadResp().setStreamNotFound(
      new streams.ReadResp.StreamNotFound().setStreamIdentifier(identifierOf(stream)),
    );
    return;
  }
  let left = Number(options.getCount());
  for (const event of options.hasAll() ? fromAll(data, options, version) : fromStream(data, stream, options)) {
    if (left <= 0) return;
    if (data.isScavenged(event)) continue;
    left -= 1;
    yield eventMessage(event);
  }
}

function fromStream(data: StoredData, stream: string, options: ReadReq.Options): Events {
  const from = options.getStream() ?? new streams.ReadReq.Options.StreamOptions();
  const revision = from.hasEnd() ? Number.POSITIVE_INFINITY : Number(from.getRevision());
  const first = data.firstReadable(stream) ?? 0;
  const events = data.stream(stream);
  if (options.getReadDirection() === BACKWARDS) return events.slice(first, revision + 1).reverse();
  return paged(events, Math.max(first, revision));
}

function fromAll(data: StoredData, options: ReadReq.Options, version: ServerVersion): Events {
  const index = allIndex(data, options.getAll(), version);
  return options.getReadDirection() === BACKWARDS ? data.log.slice(0, index).reverse() : paged(data.log, index);
}

/** Where in the log a read begins. @throws RpcError where no event is at that position */
function allIndex(data: StoredData, from: ReadReq.Options.AllOptions | undefined, version: ServerVersion): number {
  if (from?.hasEnd()) return data.log.length;
  const position = BigInt(from?.getPosition()?.getCommitPosition() ?? 0);
  const index = data.indexOf(position);
  const newest = data.log.at(-1);
  if (index === null && newest && position > newest.position && Date.now() - newest.created < UNINDEXED_MS)
    return data.log.length;
  if (index === null) throw new RpcError(status.UNKNOWN, REFUSED_POSITION[version]);
  return index;
}

/** As the server does it: page by page, and done when a page was the last one at the time when it was read. */
function* paged(growing: readonly StoredEvent[], first: number): Events {
  for (let index = first; index < growing.length; index += PAGE) {
    const isLast = index + PAGE >= growing.length;
    yield* growing.slice(index, index + PAGE);
    if (isLast) return;
  }
}
