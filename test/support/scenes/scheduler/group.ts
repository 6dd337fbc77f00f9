/** Deliveries of one kind, and what became of them. */

export interface Delivery {
  readonly url: string;
  readonly cameAt: number;
  /** When its first attempt began, in the order of them all; 0: it has not. */
  turn: number;
  /** When its first attempt had ended. */
  endedAt: number;
  deliveredAt: number;
  firstDeferredAt: number | null;
}

/** The first of a newcomer are those that go to its three URLs. */
const FIRST = 3;

export class Group {
  readonly deliveries: Delivery[] = [];
  /** When each refusal came. */
  readonly refusedAt: number[] = [];
  #deferrals = 0;
  #turns = 0;

  came(url: string, cameAt: number): Delivery {
    const never = Number.POSITIVE_INFINITY;
    const delivery = { url, cameAt, turn: 0, endedAt: never, deliveredAt: never, firstDeferredAt: null };
    this.deliveries.push(delivery);
    return delivery;
  }

  began(delivery: Delivery): void {
    this.#turns += 1;
    if (delivery.turn === 0) delivery.turn = this.#turns;
  }

  ended(delivery: Delivery, now: number): void {
    delivery.endedAt = Math.min(delivery.endedAt, now);
  }

  succeeded(delivery: Delivery, now: number): void {
    delivery.deliveredAt = now;
  }

  get delivered(): number {
    return this.deliveries.filter(({ deliveredAt }) => deliveredAt < Number.POSITIVE_INFINITY).length;
  }

  /** When the first was delivered after that time. */
  deliveredAfter(from: number): number {
    return this.deliveries.reduce(
      (first, { deliveredAt: at }) => (at >= from ? Math.min(first, at) : first),
      Number.POSITIVE_INFINITY,
    );
  }

  deferred(delivery: Delivery, now: number): void {
    this.#deferrals += 1;
    delivery.firstDeferredAt ??= now;
  }

  /** When the first attempt of each had ended. */
  get lastEndedAt(): number {
    return this.deliveries.reduce((last, { endedAt }) => Math.max(last, endedAt), 0);
  }

  /** The longest time in which none was attempted, up to the last one's end, ms. */
  get longestGapMs(): number {
    const ends = this.deliveries.map(({ endedAt }) => endedAt).sort((one, other) => one - other);
    return ends.reduce((longest, at, index) => Math.max(longest, at - (ends[index - 1] ?? at)), 0);
  }

  /** Times in ms until first attempts had ended; Infinity where they have not. */
  get figures(): Readonly<Record<string, number>> {
    const times = this.deliveries.map(({ cameAt, endedAt }) => endedAt - cameAt);
    const sorted = Float64Array.from(times).sort();
    return {
      first: Math.max(...times.slice(0, FIRST)),
      p99: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN,
      p100: sorted.at(-1) ?? Number.NaN,
      deferred: this.#deferrals,
      'records each': 1 + this.#deferrals / this.deliveries.length,
      undelivered: this.deliveries.length - this.delivered,
      'out of order': this.#outOfOrder(),
      refusals: this.refusedAt.length,
      'refusals/s': this.#mostRefusalsASecond(),
    };
  }

  /** How many were first attempted later than one that came later to the same URL. */
  #outOfOrder(): number {
    const turns = new Map<string, number>();
    let count = 0;
    for (const { url, turn } of this.deliveries.toReversed()) {
      const later = turns.get(url) ?? Number.POSITIVE_INFINITY;
      const own = turn || Number.POSITIVE_INFINITY;
      if (own > later) count += 1;
      turns.set(url, Math.min(own, later));
    }
    return count;
  }

  /** In any ten seconds, a second. */
  #mostRefusalsASecond(): number {
    let from = 0;
    let most = 0;
    for (const [index, at] of this.refusedAt.entries()) {
      while ((this.refusedAt[from] ?? at) <= at - 10_000) from += 1;
      most = Math.max(most, index - from + 1);
    }
    return most / 10;
  }
}
