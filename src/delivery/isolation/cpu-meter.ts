/**
 * What attempts cost of the process's one thread: handshakes, dear ciphers, answers that are hard to read. The time is spent in
 * code that is not ours, but right before the callback that it leads to: a handshake before the connection is ready, an answer
 * before its attempt has ended. So a callback's endpoint is charged with what the thread was busy since the last one, beyond what
 * else it did meanwhile. A receiver that ends each connection is charged with what a handshake is known to take.
 */

/** An ordinary attempt. */
const ATTEMPT_MS = 0.25;
const DEAR_MS = 1;
/** Of the weight of all attempts: reached after a dozen. */
const SURE = 8;
/** Of what was known before an attempt. */
const KEPT = 15 / 16;
/** Of one callback: more was something else's, such as garbage collection. */
const MOST_MS = 100;
/** What else the thread does between two callbacks. With 0, a real process took healthy accounts for the dear ones. */
const FOREIGN_MS = 4;
const HANDSHAKE_MS = 1.5;
/** Of one attempt, in what a cheap endpoint's next one is expected to cost. */
const EXPECTED_MOST_MS = 8;
/** Most are charged with nothing while the thread has time: without a least, the estimate would never rise again. */
const LEAST_FIRST_MS = ATTEMPT_MS;
/** Of an estimate that each value moves by a step up or down. */
const MEDIAN_STEP = 1.3;

/** Of an endpoint's attempts. */
export class CpuCost {
  /** Measured, since one ended. */
  sinceLastMs = 0;
  /** Connections that have ended, each to be counted for an attempt: one makes another in its place. */
  reconnects = 0;
  #attempts = 0;
  #tookMs = 0;
  /** With 2 * DEAR_MS of each at most, and with EXPECTED_MOST_MS. */
  #cappedMs = 0;
  #boundedMs = 0;

  /**
   * Expected cost of the next attempt. If the endpoint is not expensive, one attempt counts for EXPECTED_MOST_MS at most: on a busy
   * machine some are charged with other work, which made the mean of healthy endpoints 2 to 4 ms.
   * @param guessed if none has ended
   */
  expectedMs(guessed: number): number {
    if (this.hasNone) return guessed;
    return (this.isDear ? this.#tookMs : this.#boundedMs) / this.#attempts;
  }

  /** In the mean, where one counts for a little: what else the thread does makes one of ten look dear. */
  get isDear(): boolean {
    return this.#cappedMs > DEAR_MS * this.#attempts;
  }

  /** By so many attempts that first handshakes, and other work of the thread, do not make it look so. */
  get isSurelyDear(): boolean {
    return this.isDear && this.#attempts > SURE;
  }

  get hasNone(): boolean {
    return this.#attempts === 0;
  }

  /** @returns what this one took */
  ended(): number {
    const tookMs = this.sinceLastMs + (this.reconnects > 0 ? HANDSHAKE_MS : 0);
    this.reconnects = Math.max(0, this.reconnects - 1);
    this.sinceLastMs = 0;
    this.#add(tookMs);
    return tookMs;
  }

  #add(tookMs: number): void {
    this.#attempts = KEPT * this.#attempts + 1;
    this.#tookMs = KEPT * this.#tookMs + tookMs;
    this.#cappedMs = KEPT * this.#cappedMs + Math.min(tookMs, 2 * DEAR_MS);
    this.#boundedMs = KEPT * this.#boundedMs + Math.min(tookMs, EXPECTED_MOST_MS);
  }
}

export class CpuMeter {
  #firstMs = ATTEMPT_MS + HANDSHAKE_MS;
  #at = 0;

  /** @param busyMs for which the thread was busy so far @param cost absent: what it did lately was for no endpoint */
  charge(busyMs: number, cost?: CpuCost): void {
    if (cost) cost.sinceLastMs += Math.min(Math.max(0, busyMs - this.#at - FOREIGN_MS), MOST_MS);
    this.#at = busyMs;
  }

  /** What the first attempt of an endpoint takes: the median, for where the thread is busy, some are charged with other work. */
  get firstMs(): number {
    return this.#firstMs;
  }

  /** @param isConnected whether it needs no handshake */
  expected(cost: CpuCost, isConnected: boolean): number {
    const knownMs = isConnected ? ATTEMPT_MS : ATTEMPT_MS + HANDSHAKE_MS;
    return Math.max(knownMs, cost.expectedMs(this.#firstMs));
  }

  /** @returns what an attempt that has ended took */
  ended(busyMs: number, cost: CpuCost): number {
    this.charge(busyMs, cost);
    const isFirst = cost.hasNone;
    const tookMs = cost.ended();
    const step = tookMs > this.#firstMs ? MEDIAN_STEP : 1 / MEDIAN_STEP;
    if (isFirst) this.#firstMs = Math.max(LEAST_FIRST_MS, this.#firstMs * step);
    return tookMs;
  }
}
