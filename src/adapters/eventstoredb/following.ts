/**
 * Follows the streams of a prefix, on one connection. What "passed" stands on (docs/decisions/0015):
 * 1. A caught-up mark comes after everything that was stored when its subscription was created. So it passes every head that
 *    was answered before.
 * 2. Live, with a window of 1, each record gives its event or a checkpoint with its own place, in the order of the log.
 *
 * Checkpoints of a catch-up count for nothing: 23.10 gives commit/0 there, and KurrentDB 25 the place behind the record, at
 * which the next one will stand.
 *
 *   wide -> caught up -> narrow -> caught up -> asked for a head -> passed it: live
 *    ^                                                |              |
 *    +------- again: SETTLE_MS later, or late --------+--------------+ (fell behind, or late)
 *
 * Late: a second after a head was answered it is not passed. Narrow steps don't keep up with a burst, about which 25 is silent.
 *
 * A head may be answered while a subscription is created: its record then comes before the mark, and no later one passes it.
 * So a subscription is live only once it has passed a head that was asked for after its mark; else another is created.
 */
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import type { EventBatch, RecordedEvent, SubscribeOptions } from '../../ports/event-store.js';
import { OtherHistory } from '../../ports/event-store.js';
import { BEGINNING, type Checkpoint, fromPosition, type LogRecord, later, NO_RECORD, toPosition } from './positions.js';
import { type Reads, recorded } from './reads.js';
import { CATCHING_UP, FOLLOWING, type ResolvedBatch, type Searching, subscribeOnce } from './subscription.js';

/** A record that was stored after the mark comes within milliseconds: after this long a silence, none will. */
const SETTLE_MS = 1_000;
const LATE_MS = 1_000;
const NOTHING_DUE = { head: 0n, seenAt: 0 };
const TOMBSTONE = '$streamDeleted';

type Batches = AsyncGenerator<ResolvedBatch, void>;

export type Followed = Pick<SubscribeOptions, 'streamPrefix' | 'signal'>;

export class Following {
  readonly #client: EventStoreDBClient;
  readonly #reads: Reads;
  readonly #of: Followed;
  #mark: Checkpoint = BEGINNING;
  /** The head to pass next, and when it was first known here. */
  #due = NOTHING_DUE;

  constructor(client: EventStoreDBClient, reads: Reads, of: Followed) {
    this.#client = client;
    this.#reads = reads;
    this.#of = of;
  }

  /** Ends when the server ends the subscription, or the signal aborts. @throws OtherHistory, the client's errors */
  async *after(position: string | null): AsyncIterable<EventBatch> {
    this.#mark = position === null ? BEGINNING : await this.#unlessAborted(this.#known(position));
    do {
      yield* this.#catchUp(await this.#unlessAborted(this.#reads.head()));
    } while (!this.#of.signal.aborted && (yield* this.#live()) === 'again');
  }

  /** @throws OtherHistory */
  async #known(position: string): Promise<Checkpoint> {
    const mark = fromPosition(position);
    if (!mark) throw new OtherHistory('is a different one');
    const { event, record } = mark;
    const found = event && (await this.#reads.lookFor(event));
    if (found === 'gone') throw new OtherHistory('has other events than before: it was restored or replaced');
    const stands = found === 'stands' ? event : null;
    const isThere = record.commit === stands?.commit || (await this.#reads.hasRecord(record));
    const from = isThere ? record : (stands ?? NO_RECORD);
    return { passed: from.commit, record: { commit: from.commit, id: from.id }, event };
  }

  /** In wide steps: 81,000 foreign records take 0.09 s, and 3.5 s in narrow ones. */
  async *#catchUp(head: LogRecord): AsyncIterable<EventBatch> {
    const batches = this.#subscribed(CATCHING_UP);
    try {
      yield* this.#untilMark(batches, head);
    } finally {
      await batches.return(undefined);
    }
  }

  /** In narrow steps. @returns again: another subscription is needed, see the file's comment */
  async *#live(): AsyncGenerator<EventBatch, 'again' | 'ended'> {
    const before = await this.#unlessAborted(this.#reads.head());
    this.#due = NOTHING_DUE;
    const settling = new AbortController();
    const batches = this.#subscribed(FOLLOWING, settling.signal);
    try {
      if (!(yield* this.#untilMark(batches, before))) return 'ended';
      const { commit } = await this.#unlessAborted(this.#reads.head());
      if (!(yield* this.#untilPassed(batches, commit, settling))) return 'again';
      yield { ...this.#batch([]), caughtUp: true };
      return yield* this.#whileLive(batches);
    } finally {
      await batches.return(undefined);
    }
  }

  /** @returns false if the subscription ended before its caught-up mark */
  async *#untilMark(batches: Batches, head: LogRecord): AsyncGenerator<EventBatch, boolean> {
    for (let next = await batches.next(); !next.done; next = await batches.next()) {
      const given = this.#given(next.value);
      if (given) yield given;
      if (!next.value.caughtUp) continue;
      this.#pass(head.commit, head);
      return true;
    }
    return false;
  }

  /** @param head was asked for after the mark */
  async *#untilPassed(batches: Batches, head: bigint, settling: AbortController): AsyncGenerator<EventBatch, boolean> {
    const timer = setTimeout(() => settling.abort(), SETTLE_MS);
    try {
      while (this.#mark.passed < head) {
        const next = await batches.next();
        if (next.done || next.value.caughtUp) return false;
        timer.refresh();
        yield this.#passedLive(next.value);
        if (this.#isLate()) return false;
      }
      return true;
    } finally {
      clearTimeout(timer);
    }
  }

  async *#whileLive(batches: Batches): AsyncGenerator<EventBatch, 'again' | 'ended'> {
    for (let next = await batches.next(); !next.done; next = await batches.next()) {
      // It had fallen behind: both servers say nothing of that.
      if (next.value.caughtUp) return 'again';
      yield this.#passedLive(next.value);
      if (this.#isLate()) return 'again';
    }
    return 'ended';
  }

  #isLate(): boolean {
    const { passed } = this.#mark;
    if (passed >= this.#due.head) this.#due = { head: this.#reads.newestHead.commit, seenAt: performance.now() };
    return passed < this.#due.head && performance.now() - this.#due.seenAt > LATE_MS;
  }

  #subscribed(searching: Searching, settling?: AbortSignal): Batches {
    const { streamPrefix } = this.#of;
    const signal = settling ? AbortSignal.any([this.#of.signal, settling]) : this.#of.signal;
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

  /** A checkpoint with a prepare of its own is a record's place: a server that fell behind in silence gives others. */
  #passedLive(batch: ResolvedBatch): EventBatch {
    const { commit = 0n, prepare = 0n } = batch.passed ?? {};
    if (commit === prepare) this.#pass(commit, this.#reads.newestHead);
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

const streamOf = ({ event }: ResolvedEvent) => event?.streamId.replace(/^\$\$/, '') ?? '';
