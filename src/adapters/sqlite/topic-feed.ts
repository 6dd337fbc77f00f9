import type { ReceivedRecord } from '../../ports/broker.js';
import { DonePrefix } from '../../ports/done-prefix.js';
import type { GroupLock } from './group-lock.js';
import type { RecordRows } from './record-rows.js';
import { Timers } from './timers.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** The clock may be set: a record that is due later is looked at again by then. */
const LONGEST_WAIT_MS = 60_000;
/** So many rejected records of a topic may wait to be handed out again; then nothing new is taken from it. */
const MOST_REJECTED = 10_000;

export interface FeedParts {
  readonly topic: string;
  readonly group: string;
  readonly rows: RecordRows;
  readonly lock: GroupLock;
  readonly notBefore: (record: ReceivedRecord) => number;
  /** ms since the epoch */
  readonly now: () => number;
  /** Called when there may be something to take. */
  readonly wake: () => void;
}

/**
 * One topic of one consumer: which record may be handed out now, and which are done.
 *
 *   standing by -> (lock) -> new record -> taken -> fulfilled: done
 *                                ^           |----> rejected: pause -> taken again
 *                                `- waits while it is not yet due
 */
export class TopicFeed {
  readonly #parts: FeedParts;
  readonly #timers = new Timers();
  /** undefined while another consumer of the group has the topic. */
  #progress: DonePrefix | undefined;
  #remembered = 0;
  #position = 0;
  #page: ReceivedRecord[] = [];
  #mayHaveMore = true;
  /** Waits for the head of the page to be due, or after a read that failed. */
  #resting = false;
  #failures = 0;
  /** How often a record that is not done was rejected, by offset. */
  readonly #rejections = new Map<number, number>();
  /** Rejected ones whose pause is over. Only their offsets are kept: a record is read again. */
  readonly #again: number[] = [];

  constructor(parts: FeedParts) {
    this.#parts = parts;
  }

  get isActive(): boolean {
    return this.#progress !== undefined;
  }

  /** Becomes active if no other consumer of the group is. @throws where the lock or the store can't be used */
  activate(): void {
    const { lock, rows, group, topic } = this.#parts;
    if (this.isActive || !lock.tryAcquire()) return;
    try {
      this.#remembered = this.#position = rows.remembered(group, topic);
      this.#progress = new DonePrefix(this.#position);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** There may be new records. */
  changed(): void {
    this.#mayHaveMore = true;
    this.#parts.wake();
  }

  /** The record to hand out now, undefined for none. */
  take(): ReceivedRecord | undefined {
    if (!this.#progress) return undefined;
    try {
      const record = this.#takeAgain() ?? this.#takeNew(this.#progress);
      this.#failures = 0;
      return record;
    } catch {
      // The disk may come back; what was taken goes on, and nothing is skipped.
      this.#rest(pauseAfter(++this.#failures));
      return undefined;
    }
  }

  fulfilled(offset: number): void {
    this.#rejections.delete(offset);
    this.#progress?.done(offset);
  }

  rejected(offset: number): void {
    const rejections = (this.#rejections.get(offset) ?? 0) + 1;
    this.#rejections.set(offset, rejections);
    this.#timers.start(pauseAfter(rejections), () => {
      this.#again.push(offset);
      this.#parts.wake();
    });
  }

  /** The offset to remember for the group, undefined where it is remembered. */
  get toRemember(): number | undefined {
    const next = this.#progress?.next;
    return next === this.#remembered ? undefined : next;
  }

  wasRemembered(next: number): void {
    this.#remembered = next;
  }

  /** Nothing is taken any more. */
  stop(): void {
    this.#timers.stop();
  }

  /** Lets another consumer of the group have the topic. */
  release(): void {
    this.#progress = undefined;
    this.#parts.lock.release();
  }

  #takeAgain(): ReceivedRecord | undefined {
    const offset = this.#again[0];
    if (offset === undefined || this.#resting) return undefined;
    const record = this.#parts.rows.one(this.#parts.topic, offset);
    this.#again.shift();
    return record;
  }

  #takeNew(progress: DonePrefix): ReceivedRecord | undefined {
    if (this.#resting || this.#rejections.size >= MOST_REJECTED) return undefined;
    const record = this.#head();
    if (!record) return undefined;
    const wait = this.#parts.notBefore(record) - this.#parts.now();
    if (wait > 0) {
      this.#rest(Math.min(wait, LONGEST_WAIT_MS));
      return undefined;
    }
    this.#page.shift();
    progress.take(record.offset);
    return record;
  }

  #head(): ReceivedRecord | undefined {
    if (this.#page.length === 0 && this.#mayHaveMore) {
      this.#page = this.#parts.rows.page(this.#parts.topic, this.#position);
      this.#position = (this.#page.at(-1)?.offset ?? this.#position - 1) + 1;
      this.#mayHaveMore = this.#page.length > 0;
    }
    return this.#page[0];
  }

  #rest(ms: number): void {
    this.#resting = true;
    this.#timers.start(ms, () => {
      this.#resting = false;
      this.#parts.wake();
    });
  }
}

/** ms: 0.1 s, doubling to 5 s. */
function pauseAfter(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
}
