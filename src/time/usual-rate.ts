/**
 * The rate that something usually has: that of the last 30 s, about. What stays within it is served before what exceeds its
 * own: an equal share is not enough for one that needs more than others.
 */
const USUALLY_MS = 30_000;
/** As much of it as that brings may come together. */
const CREDIT_MS = 2_000;
/** Nothing is steady: what has its usual rate seldom lacks credit. Below one in two seconds, nothing is within it. */
const MARGIN = 1.5;

/** What is younger than 30 s has the rate of its life. */
interface Life {
  /** When it was first seen. */
  readonly since: number;
  /** As if it had lasted that long at least. */
  readonly leastMs: number;
}

/** All times are ms of one monotonic clock. */
export class UsualRate {
  readonly #life: Life;
  /** Within USUALLY_MS, about, as of #at, and what the rate allows now. */
  #count = 0;
  #credit = 0;
  #at = 0;

  constructor(life: Life) {
    this.#life = life;
  }

  /** Whether one more is within the rate. */
  isUsual(now: number): boolean {
    this.#settle(now);
    return this.#credit >= 1;
  }

  /** One more has begun, within the rate or not: what exceeds it takes nothing from what does not. */
  began(now: number): void {
    if (this.isUsual(now)) this.#credit -= 1;
  }

  /** One that makes the rate. */
  counts(now: number): void {
    this.#settle(now);
    this.#count += 1;
  }

  /** As of the last call that had a time. */
  get perMs(): number {
    const { since, leastMs } = this.#life;
    const ageMs = Math.max(leastMs, this.#at - since);
    return this.#count / (USUALLY_MS * (1 - Math.exp(-ageMs / USUALLY_MS)));
  }

  #settle(now: number): void {
    const ms = now - this.#at;
    if (ms <= 0) return;
    this.#count *= Math.exp(-ms / USUALLY_MS);
    this.#at = now;
    const { perMs } = this;
    this.#credit = Math.min(CREDIT_MS * perMs, this.#credit + ms * perMs * MARGIN);
  }
}
