/** A clock for the gate that advances only when told, and then runs everything due, in order. */
import type { GateClock } from '../../src/delivery/isolation/gate-clock.js';

interface Due {
  readonly at: number;
  readonly passed: () => void;
  cancelled: boolean;
}

export class VirtualClock implements GateClock {
  #now = 0;
  /** A heap: the earliest first. */
  readonly #due: Due[] = [];
  isClosed = false;

  readonly now = () => this.#now;

  readonly after = (ms: number, passed: () => void) => {
    const due = { at: this.#now + ms, passed, cancelled: false };
    this.#push(due);
    return () => {
      due.cancelled = true;
    };
  };

  readonly close = () => {
    this.isClosed = true;
  };

  /** Everything resolved on the way is reported too. */
  async goOn(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let next = this.#due[0]; next && next.at <= until; next = this.#due[0]) {
      this.#pop();
      if (next.cancelled) continue;
      this.#now = Math.max(this.#now, next.at);
      next.passed();
      for (let n = 0; n < 6; n += 1) await null;
    }
    this.#now = until;
  }

  #push(due: Due): void {
    const heap = this.#due;
    let at = heap.push(due) - 1;
    for (let up = (at - 1) >> 1; at > 0 && (heap[up] as Due).at > due.at; up = (at - 1) >> 1) {
      heap[at] = heap[up] as Due;
      at = up;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#due;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (let down = 1; down < heap.length; down = 2 * at + 1) {
      if (down + 1 < heap.length && (heap[down + 1] as Due).at < (heap[down] as Due).at) down += 1;
      if ((heap[down] as Due).at >= last.at) break;
      heap[at] = heap[down] as Due;
      at = down;
    }
    heap[at] = last;
  }
}
