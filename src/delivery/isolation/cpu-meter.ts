/**
 * What attempts cost of the process's one thread: handshakes, dear ciphers, answers that are hard to read. The time is spent in
 * code that is not ours, but right before the callback that it leads to: a handshake before the connection is ready, an answer
 * before its attempt has ended. So a callback's account is charged with what the thread was busy since the last one, beyond what
 * else it did meanwhile.
 */

/** What an attempt may take. What takes more counts as more attempts. */
const SHARE_MS = 0.5;
/** Of what was known before an attempt. */
const KEPT = 7 / 8;
const HALF_LIFE_MS = 1_000;
/** Of one callback: more was something else's, such as garbage collection. */
const MOST_MS = 100;
/** What else the thread does between two callbacks. With 0, a real process took healthy accounts for the dear ones. */
const FOREIGN_MS = 4;
/** Less than that: a receiver that ends each connection is charged with what a handshake is known to take. */
export const HANDSHAKE_MS = 1.5;

/** Of an endpoint's attempt, in the mean. */
export class CpuCost {
  #attempts = 0;
  #tookMs = 0;

  /** Null: none has ended. */
  get attemptMs(): number | null {
    return this.#attempts === 0 ? null : this.#tookMs / this.#attempts;
  }

  ended(tookMs: number): void {
    this.#attempts = KEPT * this.#attempts + 1;
    this.#tookMs = KEPT * this.#tookMs + tookMs;
  }
}

/** What an account used. */
export class CpuUse {
  /** Since an attempt of it ended. */
  sinceLastMs = 0;
  #beyondMs = 0;
  #at = 0;

  /** How many attempts it counts for beside those in flight, by what it took beyond their shares: half is forgotten after a second. */
  extra(now: number): number {
    return this.#beyondMs === 0 ? 0 : (this.#beyondMs / SHARE_MS) * 2 ** ((this.#at - now) / HALF_LIFE_MS);
  }

  ended(now: number): void {
    this.#beyondMs = Math.max(0, this.extra(now) * SHARE_MS + this.sinceLastMs - SHARE_MS);
    this.#at = now;
    this.sinceLastMs = 0;
  }
}

export class CpuMeter {
  readonly #busyMs: () => number;
  /** Of the first attempts of endpoints. */
  readonly #first = new CpuCost();
  #at: number;

  /** @param busyMs for which the thread was busy so far */
  constructor(busyMs: () => number) {
    this.#busyMs = busyMs;
    this.#at = busyMs();
  }

  /** @param use null: what the thread did until now was for no account */
  charge(use: CpuUse | null): void {
    const before = this.#at;
    this.#at = this.#busyMs();
    if (use) use.sinceLastMs += Math.min(Math.max(0, this.#at - before - FOREIGN_MS), MOST_MS);
  }

  expected(cost: CpuCost): number {
    return cost.attemptMs ?? this.#first.attemptMs ?? 0;
  }

  /** An attempt has ended. */
  ended(use: CpuUse, cost: CpuCost, now: number): void {
    this.charge(use);
    if (cost.attemptMs === null) this.#first.ended(use.sinceLastMs);
    cost.ended(use.sinceLastMs);
    use.ended(now);
  }
}
