/**
 * Retention of the store file, in the background: sweeps the records every minute, in small transactions, with a rest after
 * each. The history stays.
 */
import type { Logger } from '../../observability/logger.js';
import { codeOf } from './open-file.js';
import { type HoldingRules, RecordSweep } from './record-sweep.js';
import type { StoreFile } from './store-file.js';

export interface RetentionRules extends HoldingRules {
  /** How long a record is kept, ms; null: forever. */
  readonly keptMs: number | null;
}

export interface SweeperParts {
  readonly store: StoreFile;
  readonly rules: RetentionRules;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  /** Fulfilled after that many ms, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Before each round, at least. */
const PAUSE_MS = 10_000;
/** From the start of one round to the next. A round that takes longer does not keep up. */
const EVERY_MS = 60_000;
/** Rest as a multiple of the transaction's working time. */
const MOST_REST = 19;

export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #records: RecordSweep;
  readonly #pace = new SweepPace();
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  /** A failure is logged once, not every minute. */
  #hasFailed = false;

  constructor(parts: SweeperParts) {
    const { store, rules } = parts;
    this.#parts = parts;
    this.#records = new RecordSweep(store, rules);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { pause } = this.#parts;
    await pause(PAUSE_MS, signal);
    while (!signal.aborted) {
      await this.#round();
      await pause(Math.max(PAUSE_MS, EVERY_MS - this.#pace.spentMs), signal);
    }
  }

  async #round(): Promise<void> {
    const { store, rules, logger, now } = this.#parts;
    this.#pace.begin();
    try {
      const records = rules.keptMs === null ? 0 : await this.#byAge(now() - rules.keptMs);
      if (records > 0) logger.debug({ records }, 'retention: removed expired records');
      this.#hasFailed = false;
    } catch (error) {
      store.noticeDamage(error);
      if (this.#stopping.signal.aborted || this.#hasFailed) return;
      this.#hasFailed = true;
      logger.warn({ err: error, code: codeOf(error) }, 'retention failed; retrying');
    }
  }

  async #byAge(before: number): Promise<number> {
    let count = 0;
    for (const topic of this.#records.topics()) count += await this.#emptied(topic, before);
    return count;
  }

  async #emptied(topic: string, before: number): Promise<number> {
    const { signal } = this.#stopping;
    let count = 0;
    for (let last = 1; last > 0 && !signal.aborted; count += last) {
      const begun = performance.now();
      const swept = await this.#records.remove(topic, before);
      last = swept.count;
      if (last === 0 && swept.ms <= 1) break;
      await this.#parts.pause(this.#pace.restAfter(swept.ms, performance.now() - begun), signal);
    }
    return count;
  }
}

/**
 * How long a sweep rests after each transaction: at first, sweeping takes a twentieth of the time. A sweep longer than
 * EVERY_MS does not keep up with new records, so it rests less and less, down to the transaction's duration.
 */
class SweepPace {
  #spentMs = 0;

  /** Since the start, rests included. */
  get spentMs(): number {
    return this.#spentMs;
  }

  begin(): void {
    this.#spentMs = 0;
  }

  /** @param workedMs in the transaction @param tookMs including its turn and its commit */
  restAfter(workedMs: number, tookMs: number): number {
    const rest = Math.max(1, tookMs, (workedMs * MOST_REST) / (1 + this.#spentMs / EVERY_MS));
    this.#spentMs += tookMs + rest;
    return rest;
  }
}
