/** Deliveries of one kind, and what became of them. */

export interface Delivery {
  readonly url: string;
  readonly cameAt: number;
  /** When its first attempt began, in the order of them all; 0: it has not. */
  turn: number;
  /** When its first attempt had ended. */
  endedAt: number;
  firstDeferredAt: number | null;
  deferrals: number;
}

export class Group {
  readonly deliveries: Delivery[] = [];
  /** When each refusal came. */
  readonly refusedAt: number[] = [];
  delivered = 0;
  attempts = 0;
  mostInFlight = 0;
  #inFlight = 0;
  #turns = 0;

  came(url: string, cameAt: number): Delivery {
    const ended = Number.POSITIVE_INFINITY;
    const delivery: Delivery = { url, cameAt, turn: 0, endedAt: ended, firstDeferredAt: null, deferrals: 0 };
    this.deliveries.push(delivery);
    return delivery;
  }

  began(delivery: Delivery): void {
    this.#turns += 1;
    if (delivery.turn === 0) delivery.turn = this.#turns;
    this.attempts += 1;
    this.#inFlight += 1;
    this.mostInFlight = Math.max(this.mostInFlight, this.#inFlight);
  }

  ended(delivery: Delivery, now: number): void {
    this.#inFlight -= 1;
    delivery.endedAt = Math.min(delivery.endedAt, now);
  }

  deferred(delivery: Delivery, now: number): void {
    delivery.deferrals += 1;
    delivery.firstDeferredAt ??= now;
  }

  /** ms until their first attempts had ended; Infinity where they have not. */
  get times(): number[] {
    return this.deliveries.map(({ cameAt, endedAt }) => endedAt - cameAt);
  }

  get tried(): number {
    return this.deliveries.filter(({ turn }) => turn > 0).length;
  }

  get deferrals(): number {
    return this.deliveries.reduce((sum, { deferrals }) => sum + deferrals, 0);
  }

  get mostDeferrals(): number {
    return this.deliveries.reduce((most, { deferrals }) => Math.max(most, deferrals), 0);
  }

  percentile(percent: number): number {
    const sorted = Float64Array.from(this.times).sort();
    return sorted[Math.max(1, Math.ceil((percent / 100) * sorted.length)) - 1] ?? Number.NaN;
  }

  /** How many were first attempted later than one that came later to the same URL. */
  get outOfOrder(): number {
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
  get mostRefusalsASecond(): number {
    let from = 0;
    let most = 0;
    for (const [index, at] of this.refusedAt.entries()) {
      while ((this.refusedAt[from] ?? at) <= at - 10_000) from += 1;
      most = Math.max(most, index - from + 1);
    }
    return most / 10;
  }
}
