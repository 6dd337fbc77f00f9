/** Reads of streams and of the log's head, all answered by the leader. */
import type { EventStoreDBClient, ResolvedEvent, StreamingRead, StreamMetadata } from '@eventstore/db-client';
import { BACKWARDS, END, FORWARDS } from '@eventstore/db-client';
import { type RecordedEvent, StoreUnavailable, StreamHidden } from '../../ports/event-store.js';
import { objectOf } from '../common/json-object.js';
import { TookTooLong, withinTime } from '../common/time-limit.js';
import { type GivenEvent, type LogRecord, NO_RECORD, positionOfEvent } from './positions.js';
import { ALL_READ, isRefusedPlace, isStreamDeleted, isStreamNotFound, unavailable } from './store-errors.js';

export const OF_THE_LEADER = { requiresLeader: true };
/** A soft delete truncates before a revision that no stream has. */
const DELETED = 2 ** 63;

export class Reads {
  readonly #client: EventStoreDBClient;
  readonly #silenceMs: number;
  newestHead: LogRecord = NO_RECORD;

  /** @param silenceMs a read fails if no event comes for so long */
  constructor(client: EventStoreDBClient, silenceMs: number) {
    this.#client = client;
    this.#silenceMs = silenceMs;
  }

  /** The log's last record, in any stream. @throws StoreUnavailable, TookTooLong */
  async head(): Promise<LogRecord> {
    const options = { direction: BACKWARDS, fromPosition: END, maxCount: 1, ...OF_THE_LEADER } as const;
    try {
      this.newestHead = await this.#oneOfAll(this.#client.readAll(options));
      return this.newestHead;
    } catch (error) {
      throw error instanceof TookTooLong ? error : unavailable(error, ALL_READ);
    }
  }

  /** False if another record is there, none begins there, or it was scavenged. @throws the client's errors */
  async hasRecord({ commit, id }: LogRecord): Promise<boolean> {
    const fromPosition = { commit, prepare: commit };
    const options = { direction: FORWARDS, fromPosition, maxCount: 1, ...OF_THE_LEADER } as const;
    try {
      return (await this.#oneOfAll(this.#client.readAll(options))).id === id;
    } catch (error) {
      if (isRefusedPlace(error)) return false;
      throw error;
    }
  }

  async #oneOfAll(events: StreamingRead<ResolvedEvent>): Promise<LogRecord> {
    let record = NO_RECORD;
    for await (const { event } of this.#unsilenced(events)) {
      if (event) record = { commit: event.position?.commit ?? 0n, id: event.id };
    }
    return record;
  }

  /** @throws StreamHidden, TookTooLong, the client's errors */
  async *onward(stream: string, fromRevision: number, maxCount?: number): AsyncIterable<RecordedEvent> {
    // Twice: the metadata that hid the stream from the read may be changed before it is read.
    for (let look = 1; look <= 2; look += 1) {
      let isFirst = true;
      for await (const event of this.#page(stream, fromRevision, maxCount)) {
        if (isFirst && event.revision > fromRevision) {
          throw new StreamHidden(stream, `its events before revision ${event.revision} were removed`);
        }
        isFirst = false;
        yield event;
      }
      if (!isFirst || (await this.#endsBefore(stream, fromRevision))) return;
    }
  }

  /** hidden: its stream was deleted, has expired, or was truncated. gone: nothing explains that it is not there. */
  async lookFor({ stream, revision, id }: GivenEvent): Promise<'stands' | 'hidden' | 'gone'> {
    try {
      for await (const event of this.onward(stream, revision, 1)) return event.id === id ? 'stands' : 'gone';
      return 'gone';
    } catch (error) {
      if (error instanceof StreamHidden) return 'hidden';
      throw error;
    }
  }

  async *#page(stream: string, fromRevision: number, maxCount?: number): AsyncIterable<RecordedEvent> {
    const from = { direction: FORWARDS, fromRevision: BigInt(fromRevision) } as const;
    const events = this.#client.readStream(stream, { ...from, ...(maxCount && { maxCount }), ...OF_THE_LEADER });
    try {
      for await (const resolved of this.#unsilenced(events)) if (resolved.event) yield recorded(resolved);
    } catch (error) {
      if (isStreamDeleted(error)) throw new StreamHidden(stream, 'it was deleted for ever (tombstoned)');
      if (!isStreamNotFound(error)) throw error;
    }
  }

  /** Whether the stream was never that long; false: it may have been hidden. @throws StreamHidden if it still is */
  async #endsBefore(stream: string, revision: number): Promise<boolean> {
    if (revision > 0 && (await this.#hasEvents(stream))) return true;
    const asked = this.#client.getStreamMetadata(stream, OF_THE_LEADER);
    const { metadata } = await withinTime(this.#silenceMs, asked);
    const why = metadata && whyHidden(metadata);
    if (why) throw new StreamHidden(stream, why);
    return metadata === undefined;
  }

  async #hasEvents(stream: string): Promise<boolean> {
    const last = { direction: BACKWARDS, fromRevision: END, maxCount: 1, ...OF_THE_LEADER } as const;
    try {
      for await (const _ of this.#unsilenced(this.#client.readStream(stream, last))) return true;
      return false;
    } catch (error) {
      if (isStreamNotFound(error)) return false;
      throw error;
    }
  }

  /** @throws TookTooLong if no event comes within the limit */
  async *#unsilenced(events: StreamingRead<ResolvedEvent>): AsyncIterable<ResolvedEvent> {
    const iterator = events[Symbol.asyncIterator]();
    try {
      while (true) {
        const { done, value } = await withinTime(this.#silenceMs, iterator.next());
        if (done) return;
        yield value;
      }
    } finally {
      letGo(events);
    }
  }
}

/** After a read is left early, its prefetched events must drain, or closing the client waits for them. */
function letGo(events: StreamingRead<ResolvedEvent>): void {
  events.on('error', () => undefined);
  // Rejects while a cluster is down: the client tries to discover a member to notify.
  events.cancel().catch(() => undefined);
  events.resume();
}

function whyHidden({ truncateBefore, maxAge }: StreamMetadata): string | null {
  if (Number(truncateBefore ?? 0) >= DELETED) return 'it was deleted';
  if (maxAge !== undefined && maxAge > 0) return `its events have expired: its metadata has a $maxAge of ${maxAge} s`;
  if (truncateBefore !== undefined) return 'it was truncated: its metadata has a $tb';
  return null;
}

export function recorded({ event }: ResolvedEvent): RecordedEvent {
  if (!event) throw new StoreUnavailable('received an event without content');
  const { streamId: stream, id, type, data, metadata, position } = event;
  const revision = Number(event.revision);
  return {
    stream,
    revision,
    position: positionOfEvent({ stream, revision, id, commit: position?.commit ?? 0n }),
    id,
    type,
    data: objectOf(data),
    metadata: objectOf(metadata),
  };
}
