/**
 * What the attempts of each account cost of the process's one thread: handshakes, dear ciphers, answers that are hard to read.
 *
 * The time is spent in code that is not ours, but right before the callback that it leads to: a handshake before the connection
 * is ready, an answer before its attempt has ended. So a callback's account is charged with what the thread was busy since the
 * last one.
 */
import type { Account } from './endpoint.js';

/** Of what was known before an attempt. */
const KEPT = 7 / 8;
const HALF_LIFE_MS = 1_000;

export class CpuMeter {
  readonly #busyMs: () => number;
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

  charge({ cost }: Account): void {
    const before = this.#at;
    this.#at = this.#busyMs();
    cost.took(this.#at - before);
  }
}

/** Of an account. Sums of its last attempts, of which each end forgets a part. */
export class CpuCost {
  #attempts = 0;
  #tookMs = 0;
  #beyondMs = 0;
  #at = 0;

  /** In the mean. */
  get attemptMs(): number {
    return this.#attempts === 0 ? 0 : this.#tookMs / this.#attempts;
  }

  took(ms: number): void {
    this.#tookMs += ms;
    this.#beyondMs += ms;
  }

  /** @param shareMs what each attempt may take */
  ended(shareMs: number, now: number): void {
    this.#attempts = KEPT * this.#attempts + 1;
    this.#tookMs *= KEPT;
    this.#beyondMs = Math.max(0, this.beyondMs(now) - shareMs);
    this.#at = now;
  }

  /** What its attempts took of late beyond their share: half of it is forgotten after a second. */
  beyondMs(now: number): number {
    return this.#beyondMs === 0 ? 0 : this.#beyondMs * 2 ** ((this.#at - now) / HALF_LIFE_MS);
  }
}
