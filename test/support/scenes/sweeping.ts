/** The sweeper of a store file, one round at a time, at times set by the test. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import { type RetentionRules, Sweeper } from '../../../src/adapters/sqlite/sweeper.js';
import { recordingLogger } from './recording-logger.js';

/** The sweeper's waits between rounds are longer, its rests are shorter. */
const A_ROUND_MS = 10_000;

export class Sweeping {
  readonly logger = recordingLogger();
  /** How long it rested after each transaction, ms. */
  readonly rests: number[] = [];
  readonly #sweeper: Sweeper;
  #now = Date.now();
  /** Null while it does not wait for its next round: another process has the lock, or a round is in progress. */
  #next: (() => void) | null = null;
  #asked: (() => void) | null = null;
  #ended: (() => void) | null = null;

  constructor(store: StoreFile, rules: Partial<RetentionRules> = {}) {
    const all = { keptMs: 0, groupsOf: () => [], ...rules };
    this.#sweeper = new Sweeper({
      store,
      rules: all,
      logger: this.logger,
      now: () => this.#now,
      pause: (ms, signal) => (ms >= A_ROUND_MS ? this.#waits(signal) : this.#rests(ms)),
    });
    this.#sweeper.start();
  }

  /** Whether it has the lock and waits for its next round. */
  get waits(): boolean {
    return this.#next !== null;
  }

  /** Fulfilled at the end of the round that begins now, or later if another process has the lock. */
  round(now: number): Promise<void> {
    this.#now = now;
    return new Promise((resolve) => {
      this.#asked = resolve;
      this.#begin();
    });
  }

  stop(): Promise<void> {
    return this.#sweeper.stop();
  }

  async #rests(ms: number): Promise<void> {
    this.rests.push(ms);
    await nextTurn();
  }

  #waits(signal: AbortSignal): Promise<void> {
    this.#ended?.();
    this.#ended = null;
    return new Promise((resolve) => {
      this.#next = resolve;
      // Replaces the previous rounds' listener instead of adding one.
      signal.onabort = () => resolve();
      this.#begin();
    });
  }

  #begin(): void {
    if (!this.#next || !this.#asked) return;
    [this.#ended, this.#asked] = [this.#asked, null];
    const begin = this.#next;
    this.#next = null;
    begin();
  }
}
