/**
 * Tells of each one that has reached the age. All are given the same time, so the first that came is the first to reach it:
 * one timer serves them all.
 */
import type { GateClock } from './gate-clock.js';

export interface AgeQueueParts<T> {
  readonly clock: Pick<GateClock, 'now' | 'after'>;
  readonly ageMs: number;
  /** Called once for each that is still here. */
  readonly reached: (one: T) => void;
}

export class AgeQueue<T> {
  readonly #parts: AgeQueueParts<T>;
  /** Since when, in the order in which they came. */
  readonly #since = new Map<T, number>();
  #stopTimer: (() => void) | null = null;

  constructor(parts: AgeQueueParts<T>) {
    this.#parts = parts;
  }

  add(one: T, now: number): void {
    this.#since.set(one, now);
    if (!this.#stopTimer) this.#wait(this.#parts.ageMs);
  }

  delete(one: T): void {
    this.#since.delete(one);
  }

  close(): void {
    this.#since.clear();
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #wait(ms: number): void {
    this.#stopTimer = this.#parts.clock.after(ms, () => this.#look());
  }

  /** Its timer counts as running meanwhile: what comes now begins no second one. */
  #look(): void {
    const { clock, ageMs, reached } = this.#parts;
    const now = clock.now();
    for (const [one, since] of this.#since) {
      if (now - since < ageMs) {
        this.#wait(ageMs - (now - since));
        return;
      }
      this.#since.delete(one);
      reached(one);
    }
    this.#stopTimer = null;
  }
}
