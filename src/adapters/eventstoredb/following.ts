/**
 * Follows the streams of a prefix, on one connection. What "passed" stands on (docs/decisions/0015):
 * 1. A caught-up mark comes after everything that was stored when its subscription was created. So it passes every head that
 *    was answered before.
 * 2. Live, with a window of 1, each record gives its event or a checkpoint with its own place, in the order of the log.
 *
 * Checkpoints before the mark count for nothing: 23.10 gives commit/0 there, and KurrentDB 25 the place behind the record, at
 * which the next one will stand.
 *
 * A head may be answered while a subscription is created: its record then comes before the mark, and no later mark passes it.
 * So a subscription is live only if no record came between a head and its mark; otherwise another is created.
 */
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { type EventBatch, OtherHistory, type RecordedEvent } from '../../ports/event-store.js';
import { BEGINNING, fromPosition, type LogRecord, later, type Mark, NO_RECORD, toPosition } from './positions.js';
import { type Reads, recorded } from './reads.js';
import { CATCHING_UP, FOLLOWING, type ResolvedBatch, type Searching, subscribeOnce } from './subscription.js';

/** On a store that is written to all the time, the next record passes every head. */
const MOST_TRIES = 5;
const TOMBSTONE = '$streamDeleted';

export interface Followed {
  readonly streamPrefix: string;
  readonly signal: AbortSignal;
}

export class Following {
  readonly #client: EventStoreDBClient;
  readonly #reads: Reads;
  readonly #of: Followed;
  #mark: Mark = BEGINNING;

  constructor(client: EventStoreDBClient, reads: Reads, of: Followed) {
    this.#client = client;
    this.#reads = reads;
    this.#of = of;
  }

  /** Ends when the server ends the subscription, or the signal aborts. @throws OtherHistory, the client's errors */
  async *after(position: string | null): AsyncIterable<EventBatch> {
    this.#mark = position === null ? BEGINNING : await this.#unlessAborted(this.#known(position));
    const head = await this.#unlessAborted(this.#reads.head());
    yield* this.#untilCaughtUp(head);
    for (let tries = 1; !this.#of.signal.aborted; tries += 1) {
      if (yield* this.#live(tries === MOST_TRIES)) return;
    }
  }

  /** @throws OtherHistory */
  async #known(position: string): Promise<Mark> {
    const mark = fromPosition(position);
    if (!mark) throw new OtherHistory('is a different one');
    const { event, record } = mark;
    if (event && (await this.#reads.lookFor(event)) === 'gone') {
      throw new OtherHistory('has other events than before: it was restored or replaced');
    }
    const isThere = record.commit === event?.commit || (await this.#reads.hasRecord(record));
    const from = isThere ? record : (event ?? NO_RECORD);
    return { passed: from.commit, record: { commit: from.commit, id: from.id }, event };
  }

  /** In wide steps: 81,000 foreign records take 0.09 s, and 3.5 s in narrow ones. */
  async *#untilCaughtUp(head: LogRecord): AsyncIterable<EventBatch> {
    for await (const batch of this.#subscribed(CATCHING_UP)) {
      const given = this.#given(batch);
      if (given) yield given;
      if (!batch.caughtUp) continue;
      this.#pass(head.commit, head);
      return;
    }
  }

  /** In narrow steps. @returns false if another subscription is needed: see the file's comment */
  async *#live(isLastTry: boolean): AsyncGenerator<EventBatch, boolean> {
    const head = await this.#unlessAborted(this.#reads.head());
    let isQuiet = head.commit === this.#mark.record.commit;
    let isLive = false;
    for await (const batch of this.#subscribed(FOLLOWING)) {
      const given = isLive ? this.#passedLive(batch) : this.#given(batch);
      if (given) yield given;
      if (isLive) continue;
      isQuiet &&= !given && !batch.passed;
      if (!batch.caughtUp) continue;
      this.#pass(head.commit, head);
      if (!isQuiet && !isLastTry) return false;
      isLive = true;
      yield { ...this.#batch([]), caughtUp: true };
    }
    return true;
  }

  #subscribed(searching: Searching): AsyncIterable<ResolvedBatch> {
    const { streamPrefix, signal } = this.#of;
    const { commit } = this.#mark.record;
    const from = commit === 0n ? null : { commit, prepare: commit };
    // A stream's metadata has the stream's name behind $$.
    return subscribeOnce(this.#client, { from, prefixes: [streamPrefix, `$$${streamPrefix}`], signal, searching });
  }

  /** @param record resumed at from now on, if it was passed and is later */
  #pass(passed: bigint, record: LogRecord): void {
    const reached = later(this.#mark.passed, passed);
    const isLater = record.commit <= reached && record.commit > this.#mark.record.commit;
    this.#mark = { ...this.#mark, passed: reached, record: isLater ? record : this.#mark.record };
  }

  #passedLive(batch: ResolvedBatch): EventBatch {
    if (batch.passed) this.#pass(batch.passed.commit, this.#reads.newestHead);
    return this.#given(batch) ?? this.#batch([]);
  }

  /** Null if there is nothing to yield. */
  #given({ events: resolved }: ResolvedBatch): EventBatch | null {
    const last = resolved.at(-1)?.event;
    if (!last) return null;
    const events = resolved.filter((each) => this.#isEvent(each)).map(recorded);
    const reshaped = resolved.filter((each) => !this.#isEvent(each)).map(streamOf);
    const event = fromPosition(events.at(-1)?.position ?? '')?.event;
    if (event) this.#mark = { ...this.#mark, event };
    const commit = last.position?.commit ?? 0n;
    this.#pass(commit, { commit, id: last.id });
    return { ...this.#batch(events), ...(reshaped.length > 0 && { reshaped }) };
  }

  /** The client takes its time with a silent server: whoever leaves does not wait for it. @throws AbortError */
  #unlessAborted<T>(asked: Promise<T>): Promise<T> {
    const { signal } = this.#of;
    return new Promise((fulfil, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      asked.then(fulfil, reject).finally(() => signal.removeEventListener('abort', abort));
    });
  }

  #isEvent({ event }: ResolvedEvent): boolean {
    return event?.streamId.startsWith(this.#of.streamPrefix) === true && event.type !== TOMBSTONE;
  }

  #batch(events: readonly RecordedEvent[]): EventBatch {
    return { events, position: toPosition(this.#mark), caughtUp: false };
  }
}

function streamOf({ event }: ResolvedEvent): string {
  return event?.streamId.replace(/^\$\$/, '') ?? '';
}
