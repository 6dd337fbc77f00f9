/**
 * The event store on EventStoreDB. Every call has a time limit of its own: the client's appends have none (against a
 * silent server they never settle). An append that failed is in doubt; it is tried again with the same event ids, which
 * the server answers with the first result.
 */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EventStoreDBClient,
  FORWARDS,
  jsonEvent,
  NO_STREAM as NO_STREAM_YET,
  type ResolvedEvent,
  type StreamingRead,
} from '@eventstore/db-client';
import type { Logger } from '../../observability/logger.js';
import {
  type Appended,
  type EventBatch,
  type EventStore,
  type NewEvent,
  NO_STREAM,
  type RecordedEvent,
  StoreRefused,
  StoreUnavailable,
  type SubscribeOptions,
  UnknownPosition,
} from '../../ports/event-store.js';
import { TookTooLong, withinTime } from '../common/time-limit.js';
import { backoff } from './backoff.js';
import { disconnect, type UserCredentials } from './client.js';
import { fromPosition, toPosition } from './positions.js';
import { isInvalidPosition, isStreamNotFound, isWrongVersion, unavailable, wrongRevision } from './store-errors.js';
import { subscribeOnce } from './subscription.js';

export interface EventStoreDbOptions {
  /** Closed with the store. */
  readonly client: EventStoreDBClient;
  /** Given with each append: see credentialsOf. */
  readonly credentials: UserCredentials | undefined;
  readonly logger: Logger;
  /** 0 to 1: spreads new tries. */
  readonly random: () => number;
  /** Streams whose events the server removes by itself, so long after each was appended. */
  readonly expiring?: { readonly prefix: string; readonly afterMs: number };
  readonly limits?: Partial<Limits>;
}

/** ms. The server stalls for 1.6 to 1.9 s at times: a limit below 5 s would misfire. */
interface Limits {
  /** One try of an append. */
  readonly tryMs: number;
  /** All tries of an append. */
  readonly appendMs: number;
  /** Between two events of a read. */
  readonly silenceMs: number;
}

const LIMITS: Limits = { tryMs: 5_000, appendMs: 8_000, silenceMs: 8_000 };

export class EventStoreDbStore implements EventStore {
  readonly #client: EventStoreDBClient;
  readonly #options: EventStoreDbOptions;
  readonly #limits: Limits;
  readonly #closing = new AbortController();

  constructor(options: EventStoreDbOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#client = options.client;
    // Every append that waits for its next try listens.
    setMaxListeners(0, this.#closing.signal);
  }

  async append(stream: string, events: readonly NewEvent[], expectedRevision: number): Promise<Appended> {
    // The client makes JSON of them where nobody hears of a failure.
    for (const { data, metadata } of events) JSON.stringify([data, metadata]);
    const until = performance.now() + this.#limits.appendMs;
    let failure: StoreUnavailable | undefined;
    for (let failures = 0; ; failures += 1) {
      try {
        this.#mustBeOpen();
        const left = Math.max(1, until - performance.now());
        return await withinTime(Math.min(this.#limits.tryMs, left), this.#append(stream, events, expectedRevision));
      } catch (error) {
        if (isWrongVersion(error)) throw wrongRevision(stream, expectedRevision, error);
        // The last try is cut short, and tells less than the one before it.
        if (!failure || !(error instanceof TookTooLong)) failure = unavailable(error, { right: 'append to', stream });
        const pause = this.#pauseAfter(failure, failures);
        if (performance.now() + pause > until) throw failure;
        await this.#pause(pause);
      }
    }
  }

  async *read(stream: string, fromRevision = 0): AsyncIterable<RecordedEvent> {
    this.#mustBeOpen();
    const events = this.#client.readStream(stream, { direction: FORWARDS, fromRevision: BigInt(fromRevision) });
    const iterator = events[Symbol.asyncIterator]();
    try {
      while (true) {
        const { done, value } = await withinTime(this.#limits.silenceMs, iterator.next());
        if (done) return;
        if (value.event) yield recorded(value);
      }
    } catch (error) {
      if (!isStreamNotFound(error)) throw unavailable(error, { right: 'read', stream });
    } finally {
      letGo(events);
    }
  }

  async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    this.#mustBeOpen();
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    let { after } = options;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        await this.#mustKnow(after);
        for await (const batch of this.#subscribeOnce(after, options.streamPrefix, signal)) {
          failures = 0;
          after = batch.events.at(-1)?.position ?? after;
          yield batch;
        }
      } catch (error) {
        if (error instanceof UnknownPosition) throw error;
        const failure = this.#dropped(error, failures);
        options.onDropped?.(failure);
      }
      // Any end that was not asked for is a drop: the client does not come back by itself.
      if (!signal.aborted) await this.#pause(backoff(failures, this.#options.random), signal);
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await disconnect(this.#client);
  }

  async #append(stream: string, events: readonly NewEvent[], expected: number): Promise<Appended> {
    const expectedRevision = expected === NO_STREAM ? NO_STREAM_YET : BigInt(expected);
    const [{ nextExpectedRevision, position }] = await Promise.all([
      this.#client.appendToStream(stream, events.map(toEvent), { expectedRevision, ...this.#plainly() }),
      expected === NO_STREAM && this.#letExpire(stream),
    ]);
    const last = events.at(-1)?.id ?? '';
    return {
      revision: Number(nextExpectedRevision),
      position: toPosition(position ?? { commit: 0n, prepare: 0n }, last),
    };
  }

  /** Beside the append that makes the stream: where one of the two fails, both are done again. */
  async #letExpire(stream: string): Promise<void> {
    const { expiring } = this.#options;
    if (!expiring || !stream.startsWith(expiring.prefix)) return;
    const maxAge = Math.ceil(expiring.afterMs / 1_000);
    await this.#client.setStreamMetadata(stream, { maxAge }, this.#plainly());
  }

  #plainly() {
    const { credentials } = this.#options;
    return { deadline: this.#limits.tryMs, ...(credentials && { credentials }) };
  }

  async *#subscribeOnce(after: string | null, streamPrefix: string, signal: AbortSignal): AsyncIterable<EventBatch> {
    const from = after === null ? null : (fromPosition(after)?.position ?? null);
    for await (const { events, caughtUp } of subscribeOnce(this.#client, { from, streamPrefix, signal })) {
      yield { events: events.map(recorded), caughtUp };
    }
  }

  /** @throws UnknownPosition, StoreUnavailable */
  async #mustKnow(after: string | null): Promise<void> {
    if (after === null) return;
    const place = fromPosition(after);
    if (!place) throw new UnknownPosition(after);
    const found = this.#client.readAll({ direction: FORWARDS, fromPosition: place.position, maxCount: 1 });
    try {
      const { value } = await withinTime(this.#limits.silenceMs, found[Symbol.asyncIterator]().next());
      if (value?.event?.id !== place.eventId) throw new UnknownPosition(after);
    } catch (error) {
      throw isInvalidPosition(error) ? new UnknownPosition(after) : error;
    } finally {
      letGo(found);
    }
  }

  #dropped(error: unknown, failures: number): StoreUnavailable {
    const failure = unavailable(error, { right: 'read', stream: '$all' });
    if (failure instanceof StoreRefused) throw failure;
    // The first time, and then about once in half a minute.
    if (failures % 10 === 0) this.#options.logger.warn({ err: error }, 'the event store is out of reach; trying again');
    return failure;
  }

  /** ms; Infinity where no other try makes sense. A closed store has no pauses: it would try on and on. */
  #pauseAfter(failure: StoreUnavailable, failures: number): number {
    if (failure instanceof StoreRefused || this.#closing.signal.aborted) return Number.POSITIVE_INFINITY;
    return backoff(failures, this.#options.random);
  }

  async #pause(ms: number, signal: AbortSignal = this.#closing.signal): Promise<void> {
    await delay(ms, undefined, { signal }).catch(() => undefined);
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable('the event store is closed');
  }
}

/** A read that is left: what was fetched ahead has to flow off, or the client waits for it when it is closed. */
function letGo(events: StreamingRead<ResolvedEvent>): void {
  events.on('error', () => undefined);
  // With a cluster that is down it rejects: the client looks for a member to tell.
  events.cancel().catch(() => undefined);
  events.resume();
}

function toEvent({ id, type, data, metadata }: NewEvent) {
  return jsonEvent({ id, type, data, metadata });
}

function recorded({ event }: ResolvedEvent): RecordedEvent {
  if (!event) throw new StoreUnavailable('an event without content came');
  const { streamId: stream, revision, id, type, data, metadata, position } = event;
  return {
    stream,
    revision: Number(revision),
    position: toPosition(position ?? { commit: 0n, prepare: 0n }, id),
    id,
    type,
    data: data as Record<string, unknown>,
    metadata: (metadata ?? {}) as Record<string, unknown>,
  };
}
