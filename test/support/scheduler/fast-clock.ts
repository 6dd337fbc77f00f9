/** A clock that advances only when told, and then runs everything due, in order: millions of timers in seconds. */

interface Due {
  readonly at: number;
  /** Of two that are due at once, the first made is the first run. */
  readonly number: number;
  readonly passed: () => void;
  isCancelled: boolean;
}

/** Turns of the queue of microtasks from a timer to the next: an async function that awaits another takes four. */
const MICROTASKS = 6;
/** Times are multiples of 1/64 ms: sums of them are exact. */
const STEPS_PER_MS = 64;

export class FastClock {
  #now = 0;
  #made = 0;
  readonly #heap: Due[] = [];

  readonly now = () => this.#now;

  readonly after = (ms: number, passed: () => void) => {
    const at = Math.ceil((this.#now + Math.max(0, ms)) * STEPS_PER_MS) / STEPS_PER_MS;
    this.#made += 1;
    const due: Due = { at, number: this.#made, passed, isCancelled: false };
    this.#push(due);
    return () => {
      due.isCancelled = true;
    };
  };

  readonly close = () => undefined;

  async goOn(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let due = this.#heap[0]; due && due.at <= until; due = this.#heap[0]) {
      this.#pop();
      if (due.isCancelled) continue;
      this.#now = due.at;
      due.passed();
      for (let n = 0; n < MICROTASKS; n += 1) await null;
    }
    this.#now = until;
  }

  #push(due: Due): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = heap[parentAt];
      if (!parent || isBefore(parent, due)) break;
      heap[at] = parent;
      at = parentAt;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      let child = heap[childAt];
      const other = heap[childAt + 1];
      if (child && other && isBefore(other, child)) [child, childAt] = [other, childAt + 1];
      if (!child || !isBefore(child, last)) break;
      heap[at] = child;
      at = childAt;
    }
    heap[at] = last;
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}
