/**
 * The event store on EventStoreDB. Every call has its own time limit: the client's appends have none (against a silent
 * server they never settle). A failed append is in doubt; it is retried with the same event ids, for which the server
 * returns the first result.
 *
 * All calls go to the leader. A follower cut off from its cluster would keep answering from an old log, and the client would
 * stay with it; if the call requires the leader, such a node refuses, and the client discovers the leader.
 */
import { setMaxListeners } from 'node:events';
import { type EventStoreDBClient, jsonEvent, NO_STREAM as NO_STREAM_YET } from '@eventstore/db-client';
import type { Appended, EventBatch, EventStore, NewEvent, RecordedEvent } from '../../ports/event-store.js';
import {
  NO_STREAM,
  OtherHistory,
  StoreRefused,
  StoreUnavailable,
  StreamHidden,
  type SubscribeOptions,
  WrongExpectedRevision,
} from '../../ports/event-store.js';
import { sleep } from '../../time/retry.js';
import { TookTooLong, withinTime } from '../common/time-limit.js';
import { disconnect, type UserCredentials } from './client.js';
import { Following } from './following.js';
import { fromPosition, positionOfEvent, positionOfHead } from './positions.js';
import { OF_THE_LEADER, Reads } from './reads.js';
import { ALL_READ, unavailable, wrongRevision } from './store-errors.js';

export interface EventStoreDbOptions {
  /** Closed with the store. */
  readonly client: EventStoreDBClient;
  /** Passed with each append: see credentialsOf. */
  readonly credentials: UserCredentials | undefined;
  /** 0 to 1: spreads retries. */
  readonly random: () => number;
  readonly limits?: Partial<Limits>;
}

/** ms. The server stalls for 1.6 to 1.9 s at times: a limit below 5 s for one append attempt would misfire. */
interface Limits {
  /** One attempt of an append. */
  readonly tryMs: number;
  /** All attempts of an append; also those of a read, counted from its last event. */
  readonly appendMs: number;
  /** Between two events of a read. */
  readonly silenceMs: number;
  /** All attempts to read the head. */
  readonly headMs: number;
}

const LIMITS: Limits = { tryMs: 5_000, appendMs: 8_000, silenceMs: 8_000, headMs: 4_000 };

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 3_000;

export class EventStoreDbStore implements EventStore {
  readonly #client: EventStoreDBClient;
  readonly #options: EventStoreDbOptions;
  readonly #limits: Limits;
  readonly #reads: Reads;
  readonly #closing = new AbortController();

  constructor(options: EventStoreDbOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#client = options.client;
    this.#reads = new Reads(options.client, this.#limits.silenceMs);
    // Every call that waits for its retry adds a listener.
    setMaxListeners(0, this.#closing.signal);
  }

  async append(stream: string, events: readonly NewEvent[], expectedRevision: number): Promise<Appended> {
    // The client serializes them where no code handles an error.
    for (const { data, metadata } of events) JSON.stringify([data, metadata]);
    return this.#tried(this.#limits.appendMs, this.#limits.tryMs, async () => {
      try {
        return await this.#append(stream, events, expectedRevision);
      } catch (error) {
        if (error instanceof TookTooLong) throw error;
        throw wrongRevision(stream, expectedRevision, error) ?? unavailable(error, { right: 'append to', stream });
      }
    });
  }

  async *read(stream: string, fromRevision = 0, types?: readonly string[]): AsyncIterable<RecordedEvent> {
    this.#mustBeOpen();
    let next = fromRevision;
    let until = performance.now() + this.#limits.appendMs;
    for (let failures = 0; ; failures += 1) {
      try {
        for await (const event of this.#reads.onward(stream, next)) {
          next = event.revision + 1;
          if (!types || types.includes(event.type)) yield event;
          until = performance.now() + this.#limits.appendMs;
        }
        return;
      } catch (error) {
        if (error instanceof StreamHidden) throw error;
        const failure = unavailable(error, { right: 'read', stream });
        const pause = this.#pauseAfter(failure, failures);
        if (performance.now() + pause > until) throw failure;
        await sleep(pause, this.#closing.signal);
      }
    }
  }

  async endsWith(stream: string, revision: number, id: string): Promise<boolean> {
    let isThere = false;
    for await (const event of this.read(stream, revision)) {
      if (event.id !== id || event.revision !== revision) return false;
      isThere = true;
    }
    return isThere;
  }

  async head(): Promise<string> {
    const { headMs } = this.#limits;
    return positionOfHead(await this.#tried(headMs, headMs, () => this.#reads.head()));
  }

  isAtOrAfter(position: string, head: string): boolean {
    const [one, other] = [fromPosition(position), fromPosition(head)];
    return one !== null && other !== null && one.passed >= other.passed;
  }

  async *subscribe(options: SubscribeOptions): AsyncIterable<EventBatch> {
    this.#mustBeOpen();
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    let { after } = options;
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        const following = new Following(this.#client, this.#reads, { ...options, signal });
        for await (const batch of following.after(after)) {
          failures = 0;
          after = batch.position;
          yield batch;
        }
        // Any unrequested end is a drop: the client does not reconnect by itself.
        throw new StoreUnavailable('the subscription ended');
      } catch (error) {
        if (signal.aborted) return;
        // Also where nobody listens: it may throw.
        const drop = dropOf(error);
        options.onDropped?.(drop);
      }
      if (!signal.aborted) await sleep(backoff(failures, this.#options.random), signal);
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    await disconnect(this.#client);
  }

  /** @throws WrongExpectedRevision, StoreUnavailable: from the last attempt that gives a cause */
  async #tried<T>(limitMs: number, tryMs: number, work: () => Promise<T>): Promise<T> {
    const until = performance.now() + limitMs;
    let failure: StoreUnavailable | undefined;
    for (let failures = 0; ; failures += 1) {
      try {
        this.#mustBeOpen();
        const left = Math.max(1, until - performance.now());
        return await withinTime(Math.min(tryMs, left), work());
      } catch (error) {
        if (error instanceof WrongExpectedRevision) throw error;
        // The last attempt is cut short, and tells less than the one before it.
        if (!failure || !(error instanceof TookTooLong)) failure = unavailable(error);
        const pause = this.#pauseAfter(failure, failures);
        if (performance.now() + pause > until) throw failure;
        await sleep(pause, this.#closing.signal);
      }
    }
  }

  async #append(stream: string, events: readonly NewEvent[], expected: number): Promise<Appended> {
    const { credentials } = this.#options;
    const expectedRevision = expected === NO_STREAM ? NO_STREAM_YET : BigInt(expected);
    const { nextExpectedRevision, position } = await this.#client.appendToStream(
      stream,
      events.map((event) => jsonEvent(event)),
      {
        expectedRevision,
        ...OF_THE_LEADER,
        deadline: this.#limits.tryMs,
        ...(credentials && { credentials }),
      },
    );
    const revision = Number(nextExpectedRevision);
    const last = { stream, revision, id: events.at(-1)?.id ?? '', commit: position?.commit ?? 0n };
    return { revision, position: positionOfEvent(last) };
  }

  /** ms; Infinity if retrying won't help. A closed store has no pauses: it would retry without end. */
  #pauseAfter(failure: StoreUnavailable, failures: number): number {
    if (failure instanceof StoreRefused || this.#closing.signal.aborted) return Number.POSITIVE_INFINITY;
    return backoff(failures, this.#options.random);
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable('the event store is closed');
  }
}

/** Backoff after that many failures in a row: doubling, half of it random, which spreads many clients. */
function backoff(failures: number, random: () => number): number {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 10), LONGEST_PAUSE_MS);
  return most / 2 + (most / 2) * random();
}

/** @throws what ends the subscription for good: OtherHistory, StoreRefused */
function dropOf(error: unknown): StoreUnavailable {
  const failure = error instanceof OtherHistory ? error : unavailable(error, ALL_READ);
  if (failure instanceof OtherHistory || failure instanceof StoreRefused) throw failure;
  return failure;
}
