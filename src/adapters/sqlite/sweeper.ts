/**
 * Retention of the store file, beside the work: it goes over the records every minute and over the streams that expire
 * every hour, in small transactions, with a rest after each. Of all processes on a DATA_DIR one does it, by a lock as of a
 * consumer group.
 */
import type { Logger } from '../../observability/logger.js';
import { GroupLock } from './group-lock.js';
import { codeOf } from './open-file.js';
import { type HoldingRules, RecordSweep, type Swept } from './record-sweep.js';
import type { StoreFile } from './store-file.js';
import { type ExpiringStreams, StreamSweep } from './stream-sweep.js';
import { SweepPace } from './sweep-pace.js';

export interface RetentionRules extends HoldingRules {
  /** How long a record is kept, ms; null is until the size limit. */
  readonly keptMs: number | null;
  /** How much of the store file may be in use before records go that are younger; null is any amount. */
  readonly mostBytes: number | null;
  readonly expiring: ExpiringStreams;
}

export interface SweeperParts {
  readonly store: StoreFile;
  readonly rules: RetentionRules;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  /** Fulfilled after so many ms, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** No consumer group can have it: `~` is in none of their names. */
const LOCK = '~retention';
/** Before each round, at least. */
const PAUSE_MS = 10_000;
/** From one round's beginning to the next. */
const EVERY_MS = 60_000;
const ROUNDS_TO_STREAMS = 60;
/** At the size limit, what was published within so much time goes together, whatever its topic. */
const SLICE_MS = 60_000;

export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #lock: GroupLock;
  readonly #records: RecordSweep;
  readonly #streams: StreamSweep;
  readonly #pace = new SweepPace();
  readonly #stopping = new AbortController();
  /** From when it first had the lock; while another process has it, rounds are left out. */
  #running: Promise<void> | null = null;
  /** What was said of the last round: a state is said once, and not every minute. */
  #said: 'nothing' | 'failed' | 'too large' = 'nothing';

  constructor(parts: SweeperParts) {
    const { store, rules } = parts;
    this.#parts = parts;
    this.#records = new RecordSweep(store, rules);
    this.#streams = new StreamSweep(store, rules.expiring);
    const nothing = () => undefined;
    const taken = () => {
      this.#running ??= this.#run();
    };
    this.#lock = new GroupLock(store, { group: LOCK, taken, lost: nothing, regained: nothing });
  }

  /** Returns at once. @throws an error of fs or SQLite */
  start(): void {
    void this.#lock.acquire();
  }

  /** Fulfilled when nothing of it is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#lock.release();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { pause } = this.#parts;
    await pause(PAUSE_MS, signal);
    for (let round = 0; !signal.aborted; round += 1) {
      if (this.#lock.holds) await this.#round(round % ROUNDS_TO_STREAMS === 0);
      await pause(Math.max(PAUSE_MS, EVERY_MS - this.#pace.spentMs), signal);
    }
  }

  async #round(withStreams: boolean): Promise<void> {
    const { rules, logger, now } = this.#parts;
    this.#pace.begin();
    try {
      const records = (rules.keptMs === null ? 0 : await this.#byAge(now() - rules.keptMs)) + (await this.#bySize());
      const streams = withStreams ? await this.#overStreams() : 0;
      if (records + streams > 0) logger.debug({ records, streams }, 'retention: removed expired records');
      if (this.#said === 'failed') this.#said = 'nothing';
    } catch (error) {
      if (this.#stopping.signal.aborted || this.#said === 'failed') return;
      this.#said = 'failed';
      logger.warn({ err: error, code: codeOf(error) }, 'retention failed; retrying');
    }
  }

  async #byAge(before: number): Promise<number> {
    let count = 0;
    for (const topic of this.#records.topics()) count += await this.#emptied(topic, before);
    return count;
  }

  async #emptied(topic: string, before: number): Promise<number> {
    let count = 0;
    for (let last = 1; last > 0 && !this.#stopping.signal.aborted; count += last) {
      const begun = performance.now();
      last = await this.#rested(await this.#records.remove(topic, before), begun);
    }
    return count;
  }

  async #bySize(): Promise<number> {
    const { mostBytes } = this.#parts.rules;
    let count = 0;
    while (mostBytes !== null && this.#records.bytesInUse() > mostBytes && !this.#stopping.signal.aborted) {
      const oldest = this.#records.oldestRemovable();
      if (oldest === null) {
        this.#tooLarge(mostBytes);
        return count;
      }
      count += await this.#byAge(oldest + SLICE_MS);
    }
    if (this.#said === 'too large') this.#said = 'nothing';
    return count;
  }

  /** What a group has yet to do, and the history, stay: a service that forgets payments would be worse than a full disk. */
  #tooLarge(mostBytes: number): void {
    if (this.#said === 'too large') return;
    this.#said = 'too large';
    const about = { bytesInUse: this.#records.bytesInUse(), mostBytes };
    this.#parts.logger.warn(
      about,
      'store.sqlite exceeds BROKER_RETENTION_SIZE, and only history and unfinished records are left',
    );
  }

  async #overStreams(): Promise<number> {
    let count = 0;
    let begun = performance.now();
    for await (const swept of this.#streams.remove()) {
      count += await this.#rested(swept, begun);
      begun = performance.now();
      if (this.#stopping.signal.aborted) break;
    }
    return count;
  }

  async #rested({ count, ms }: Swept, begun: number): Promise<number> {
    // At the end of a topic there is nothing to rest from.
    if (count > 0 || ms > 1)
      await this.#parts.pause(this.#pace.restAfter(ms, performance.now() - begun), this.#stopping.signal);
    return count;
  }
}
