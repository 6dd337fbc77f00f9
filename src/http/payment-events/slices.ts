/**
 * Divides the work of large requests: after so much of it in a turn of the event loop, everything else has its turn, and
 * the requests that wait go on one after the other.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

const SLICE_MS = 2;

export class Slices {
  #usedMs = 0;
  #turn: Promise<void> | null = null;

  /** Undefined: at once. */
  wait(): Promise<void> | undefined {
    return this.#usedMs < SLICE_MS ? undefined : this.#waited();
  }

  use<T>(work: () => T): T {
    const begun = performance.now();
    const result = work();
    this.#usedMs += performance.now() - begun;
    return result;
  }

  async #waited(): Promise<void> {
    while (this.#usedMs >= SLICE_MS) {
      this.#turn ??= nextTurn().then(() => {
        this.#usedMs = 0;
        this.#turn = null;
      });
      await this.#turn;
    }
  }
}
