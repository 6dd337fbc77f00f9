/** The time of the gate. */
import { beginDeadline } from '../attempt/deadline.js';

export interface GateClock {
  /** ms in which this process ran. They never go back. */
  readonly now: () => number;
  /** Calls back after so many ms. @returns what takes it back */
  readonly after: (ms: number, passed: () => void) => () => void;
  readonly close: () => void;
}

const BEAT_MS = 100;
const LONGEST_BEAT_MS = 2 * BEAT_MS;

/**
 * Where this process stood still (a virtual machine that was moved, a long turn of the event loop), this clock did too.
 * Else every endpoint would seem slow that answered meanwhile, and what waits for it would be parked.
 */
export function createGateClock(steady: () => number = () => performance.now()): GateClock {
  let [beatAt, ranMs] = [steady(), 0];
  const now = () => {
    const at = steady();
    ranMs += Math.min(at - beatAt, LONGEST_BEAT_MS);
    beatAt = at;
    return ranMs;
  };
  const beats = setInterval(now, BEAT_MS).unref();
  return { now, after: beginDeadline, close: () => clearInterval(beats) };
}

/** Calls back for each item after a fixed delay; one timer serves all. */
export class AgeQueue<T> {
  readonly #clock: Pick<GateClock, 'now' | 'after'>;
  readonly #delayMs: number;
  readonly #passed: (item: T) => void;
  /** When each was added, in that order. */
  readonly #since = new Map<T, number>();
  #stopTimer: (() => void) | null = null;

  constructor(clock: Pick<GateClock, 'now' | 'after'>, delayMs: number, passed: (item: T) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#passed = passed;
  }

  add(item: T, now: number): void {
    this.#since.set(item, now);
    if (!this.#stopTimer) this.#wait(this.#delayMs);
  }

  delete(item: T): void {
    this.#since.delete(item);
  }

  close(): void {
    this.#since.clear();
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #wait(ms: number): void {
    this.#stopTimer = this.#clock.after(ms, () => this.#look());
  }

  /** #stopTimer stays set during the loop, so `add` does not start a second timer. */
  #look(): void {
    const now = this.#clock.now();
    for (const [item, since] of this.#since) {
      if (now - since < this.#delayMs) {
        this.#wait(this.#delayMs - (now - since));
        return;
      }
      this.#since.delete(item);
      this.#passed(item);
    }
    this.#stopTimer = null;
  }
}
