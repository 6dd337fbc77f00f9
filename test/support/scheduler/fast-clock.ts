/**
 * A clock that advances only when told, and then runs everything due, in order: millions of timers in seconds. They lie in
 * one bucket each millisecond, and only those of the current one are kept sorted.
 */

interface Due {
  readonly at: number;
  /** Of two that are due at once, the first made is the first run. */
  readonly number: number;
  readonly passed: () => void;
  isCancelled: boolean;
}

/** Turns of the queue of microtasks from a timer to the next: an async function that awaits another takes four. */
const MICROTASKS = 8;
/** Times are multiples of 1/64 ms: sums of them are exact. */
const STEPS_PER_MS = 64;

export class FastClock {
  #now = 0;
  #made = 0;
  readonly #buckets = new Map<number, Due[]>();
  #bucket = 0;
  /** The first that is due is the last. */
  readonly #current: Due[] = [];

  readonly now = () => this.#now;

  readonly after = (ms: number, passed: () => void) => {
    const at = Math.ceil((this.#now + Math.max(0, ms)) * STEPS_PER_MS) / STEPS_PER_MS;
    this.#made += 1;
    const due: Due = { at, number: this.#made, passed, isCancelled: false };
    this.#add(due);
    return () => {
      due.isCancelled = true;
    };
  };

  readonly close = () => undefined;

  async goOn(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (let due = this.#next(until); due; due = this.#next(until)) {
      if (due.isCancelled) continue;
      this.#now = due.at;
      due.passed();
      for (let n = 0; n < MICROTASKS; n += 1) await null;
    }
    this.#now = until;
  }

  #add(due: Due): void {
    const bucket = Math.floor(due.at);
    if (bucket > this.#bucket) {
      const others = this.#buckets.get(bucket);
      if (others) others.push(due);
      else this.#buckets.set(bucket, [due]);
      return;
    }
    let at = this.#current.length;
    for (let before = this.#current[at - 1]; before && before.at <= due.at; before = this.#current[at - 1]) at -= 1;
    this.#current.splice(at, 0, due);
  }

  #next(until: number): Due | undefined {
    while (this.#current.length === 0) {
      if (this.#bucket >= until) return undefined;
      this.#bucket += 1;
      const bucket = this.#buckets.get(this.#bucket);
      if (!bucket) continue;
      this.#buckets.delete(this.#bucket);
      this.#current.push(...bucket.sort((one, other) => other.at - one.at || other.number - one.number));
    }
    const last = this.#current.at(-1);
    if (!last || last.at > until) return undefined;
    return this.#current.pop();
  }
}
