/** A clock for the gate that advances only when told, and then runs everything due, in order. */

import { Heap } from '../../src/delivery/isolation/endpoint-queues.js';
import type { GateClock } from '../../src/delivery/isolation/gate-clock.js';

interface Due {
  readonly at: number;
  readonly passed: () => void;
  cancelled: boolean;
}

export class VirtualClock implements GateClock {
  #now = 0;
  readonly #due = new Heap<Due>((one, other) => one.at - other.at);
  isClosed = false;

  readonly now = () => this.#now;

  readonly after = (ms: number, passed: () => void) => {
    const due = { at: this.#now + ms, passed, cancelled: false };
    this.#due.push(due);
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
    for (let next = this.#due.first; next && next.at <= until; next = this.#due.first) {
      this.#due.removeFirst();
      if (next.cancelled) continue;
      this.#now = Math.max(this.#now, next.at);
      next.passed();
      for (let n = 0; n < 6; n += 1) await null;
    }
    this.#now = until;
  }
}
