/** A clock that advances only when told, and then runs everything due, in order: millions of timers in seconds. */
import type { ProcessClock } from '../../../src/time/process-clock.js';
import { type Due, DueHeap } from './due-heap.js';

interface Timer extends Due {
  readonly passed: () => void;
  isCancelled: boolean;
}

/** Turns of the queue of microtasks from a timer to the next: an async function that awaits another takes four. */
const MICROTASKS = 6;
/** Times are multiples of 1/64 ms: sums of them are exact. */
const STEPS_PER_MS = 64;

export class VirtualClock implements ProcessClock {
  #now = 0;
  #made = 0;
  readonly #timers = new DueHeap<Timer>();
  isClosed = false;

  readonly now = () => this.#now;

  readonly after = (ms: number, passed: () => void) => {
    const at = Math.ceil((this.#now + Math.max(0, ms)) * STEPS_PER_MS) / STEPS_PER_MS;
    this.#made += 1;
    const timer: Timer = { at, number: this.#made, passed, isCancelled: false };
    this.#timers.push(timer);
    return () => {
      timer.isCancelled = true;
    };
  };

  readonly close = () => {
    this.isClosed = true;
  };

  /** Everything resolved on the way is reported too. */
  async goOn(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let timer = this.#timers.first; timer && timer.at <= until; timer = this.#timers.first) {
      this.#timers.removeFirst();
      if (timer.isCancelled) continue;
      this.#now = timer.at;
      timer.passed();
      for (let n = 0; n < MICROTASKS; n += 1) await null;
    }
    this.#now = until;
  }
}
