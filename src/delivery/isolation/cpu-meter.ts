/**
 * What attempts cost of the process's one thread: handshakes, dear ciphers, answers that are hard to read. The time is spent in
 * code that is not ours, but right before the callback that it leads to: a handshake before the connection is ready, an answer
 * before its attempt has ended. So a callback's endpoint is charged with what the thread was busy since the last one, beyond what
 * else it did meanwhile. A receiver that ends each connection is charged with what a handshake is known to take.
 */

/** An ordinary attempt takes 0.15 ms. */
const DEAR_MS = 1;
/** Of what was known before an attempt. */
const KEPT = 7 / 8;
/** Of one callback: more was something else's, such as garbage collection. */
const MOST_MS = 100;
/** What else the thread does between two callbacks. With 0, a real process took healthy accounts for the dear ones. */
const FOREIGN_MS = 4;
const HANDSHAKE_MS = 1.5;

/** Of an endpoint's attempts. */
export class CpuCost {
  /** Since one ended. */
  sinceLastMs = 0;
  #attempts = 0;
  #tookMs = 0;
  #dear = 0;

  /** Of one, in the mean. Null: none has ended. */
  get attemptMs(): number | null {
    return this.#attempts === 0 ? null : this.#tookMs / this.#attempts;
  }

  /** Most of the last ones were, not the mean: what else the thread does makes one of ten look dear. */
  get isDear(): boolean {
    return this.#dear > this.#attempts / 2;
  }

  /** The next attempt makes a connection: that of the last has ended. */
  disconnected(): void {
    this.sinceLastMs += HANDSHAKE_MS;
  }

  ended(tookMs: number): void {
    this.#attempts = KEPT * this.#attempts + 1;
    this.#tookMs = KEPT * this.#tookMs + tookMs;
    this.#dear = KEPT * this.#dear + (tookMs > DEAR_MS ? 1 : 0);
    this.sinceLastMs = 0;
  }
}

export class CpuMeter {
  /** Of the first attempts of endpoints. */
  readonly #first = new CpuCost();
  #at = 0;

  /** @param busyMs for which the thread was busy so far @param cost absent: what it did lately was for no endpoint */
  charge(busyMs: number, cost?: CpuCost): void {
    if (cost) cost.sinceLastMs += Math.min(Math.max(0, busyMs - this.#at - FOREIGN_MS), MOST_MS);
    this.#at = busyMs;
  }

  expected(cost: CpuCost): number {
    return cost.attemptMs ?? this.#first.attemptMs ?? 0;
  }

  /** @returns what an attempt that has ended took */
  ended(busyMs: number, cost: CpuCost): number {
    this.charge(busyMs, cost);
    const tookMs = cost.sinceLastMs;
    if (cost.attemptMs === null) this.#first.ended(tookMs);
    cost.ended(tookMs);
    return tookMs;
  }
}
