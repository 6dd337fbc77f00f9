/**
 * What attempts cost of the process's one thread: handshakes, dear ciphers, answers that are hard to read.
 *
 * The time is spent in code that is not ours, but right before the callback that it leads to: a handshake before the connection
 * is ready, an answer before its attempt has ended. So a callback's account is charged with what the thread was busy since the
 * last one.
 */

/** Of what was known before an attempt. */
const KEPT = 7 / 8;
const HALF_LIFE_MS = 1_000;
/** A guess, before anything is known: a request with its handshake. */
const GUESS_MS = 1.75;

/** In the mean of the last attempts, of which the last has the greatest weight. */
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

/** What an account has used of the thread. */
export class CpuUse {
  /** Since an attempt of it ended. */
  sinceLastMs = 0;
  #beyondMs = 0;
  #at = 0;

  /** What its attempts took of late beyond their share, ms: half of it is forgotten after a second. */
  beyondMs(now: number): number {
    return this.#beyondMs === 0 ? 0 : this.#beyondMs * 2 ** ((this.#at - now) / HALF_LIFE_MS);
  }

  /** @param shareMs what each attempt may take */
  ended(tookMs: number, shareMs: number, now: number): void {
    this.#beyondMs = Math.max(0, this.beyondMs(now) + tookMs - shareMs);
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

  /** What the thread did until now was for no account. */
  skip(): void {
    this.#at = this.#busyMs();
  }

  charge(use: CpuUse): void {
    const before = this.#at;
    this.#at = this.#busyMs();
    use.sinceLastMs += this.#at - before;
  }

  expected(cost: CpuCost): number {
    return cost.attemptMs ?? this.#first.attemptMs ?? GUESS_MS;
  }

  /** An attempt has ended. */
  ended(use: CpuUse, cost: CpuCost, { shareMs, now }: { readonly shareMs: number; readonly now: number }): void {
    this.charge(use);
    const tookMs = use.sinceLastMs;
    if (cost.attemptMs === null) this.#first.ended(tookMs);
    cost.ended(tookMs);
    use.ended(tookMs, shareMs, now);
  }
}
