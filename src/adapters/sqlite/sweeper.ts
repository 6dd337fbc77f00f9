/** Retention of the store file, in the background, in small transactions with a rest after each. The history stays. */
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

const FIRST_AFTER_MS = 10_000;
const PAUSE_MS = 60_000;
/** Rest as a multiple of the time that a transaction took, with its turn and its commit. */
const REST = 4;

export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #records: RecordSweep;
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
    await pause(FIRST_AFTER_MS, signal);
    while (!signal.aborted) {
      await this.#round();
      await pause(PAUSE_MS, signal);
    }
  }

  async #round(): Promise<void> {
    const { store, rules, logger, now } = this.#parts;
    try {
      if (rules.keptMs !== null) await this.#byAge(now() - rules.keptMs);
      this.#hasFailed = false;
    } catch (error) {
      store.noticeDamage(error);
      if (this.#stopping.signal.aborted || this.#hasFailed) return;
      this.#hasFailed = true;
      logger.warn({ err: error, code: codeOf(error) }, 'retention failed; retrying');
    }
  }

  async #byAge(before: number): Promise<void> {
    const { signal } = this.#stopping;
    for (const topic of this.#records.topics()) {
      while (!signal.aborted) {
        const begun = performance.now();
        if ((await this.#records.remove(topic, before)) === 0) break;
        await this.#parts.pause(REST * (performance.now() - begun), signal);
      }
    }
  }
}
