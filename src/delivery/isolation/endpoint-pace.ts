/**
 * How an endpoint takes deliveries, by its attempts so far. It is kept while the endpoint is idle.
 *
 * The window is how many attempts may be in flight: 1 at first, 1 more with each 2xx, half as many with each failure. A
 * refusal (429, or 503 with Retry-After) is no failure: it gives the endpoint a rate, which falls with each refusal and
 * grows with time (additive increase, multiplicative decrease), and Retry-After a pause, after which one attempt asks.
 */
import { CpuCost } from './cpu-meter.js';

const SECOND = 1_000;
/** Of the last attempt in the mean. */
const WEIGHT = 1 / 8;
/** A rate grows by a tenth a second, and by half an attempt a second besides. */
const FALL = 0.7;
const GROWTH = 0.1;
const MORE = 0.5;
/** Attempts a second. A rate that has grown beyond FASTEST limits nothing. */
const SLOWEST = 0.5;
const FASTEST = 1_000;
/** Between a refusal and the next attempt: two refusals a second at most. */
const AFTER_REFUSAL_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
const LATELY_MS = 60_000;
/** What fails queues what it takes before a deferred delivery would be back; others what they take in that time. */
export const SOON_MS = 5_000;
const PATIENT_MS = 60_000;
const PACED_MS = 120_000;

/** All times are of the scheduler's clock, in ms. */
export class EndpointPace {
  readonly cost = new CpuCost();
  window = 1;
  /** How long an attempt takes; 0: none has ended. */
  meanMs = 0;
  /** The first failure since the last 2xx; null: it takes deliveries, or was never tried. */
  failingSince: number | null = null;
  pausedUntil = 0;
  /** Nothing was accepted since its pause: a single attempt asks. */
  asks = false;
  /** Attempts a second, as it fell last. */
  #rate = Number.POSITIVE_INFINITY;
  /** When the rate lets the next attempt begin, and when it fell last. */
  #nextAt = 0;
  #fellAt = Number.NEGATIVE_INFINITY;
  #succeededAt = Number.NEGATIVE_INFINITY;
  /** 2xx within the last second, about, as of `#succeededAt`. */
  #lately = 0;

  /** Has taken deliveries, and most of late. Others are on probation. */
  get isProven(): boolean {
    // Where a window is never larger than 1, the last result counts.
    return this.window > 1 || (this.failingSince === null && this.#succeededAt >= 0);
  }

  /** Takes deliveries, and costs this process little. */
  get isCheap(): boolean {
    return this.isProven && !this.cost.isDear;
  }

  /** Takes nothing. */
  get isFailing(): boolean {
    return this.failingSince !== null && !this.isProven;
  }

  /** For how long it keeps what is queued. */
  patienceMs(now: number): number {
    const asksForLess = this.asks || Number.isFinite(this.#rateAt(now));
    if (asksForLess) return PACED_MS;
    return this.isFailing ? SOON_MS : PATIENT_MS;
  }

  /** The endpoint answered 2xx within the last minute. */
  hasSucceededLately(now: number): boolean {
    return now - this.#succeededAt < LATELY_MS;
  }

  /** Whether its window has room. */
  hasRoom(inFlight: number): boolean {
    return inFlight < (this.asks ? 1 : this.window);
  }

  /** When its rate and its pause let an attempt begin. */
  get opensAt(): number {
    return Math.max(this.pausedUntil, this.#nextAt);
  }

  began(now: number): void {
    if (this.#rate !== Number.POSITIVE_INFINITY)
      this.#nextAt = Math.max(now, this.#nextAt) + SECOND / this.#rateAt(now);
  }

  succeeded(durationMs: number, now: number, perEndpoint: number): void {
    this.#lately = this.#latelyAt(now) + 1;
    this.#succeededAt = now;
    this.asks = false;
    this.failingSince = null;
    this.window = Math.min(perEndpoint, this.window + 1);
    this.#took(durationMs);
  }

  failed(durationMs: number, now: number): void {
    this.failingSince ??= now;
    this.window = Math.max(1, this.window >> 1);
    this.#took(durationMs);
  }

  /** @param retryAfterMs what it asked for; 0: nothing. @param beganAt those that were in flight together count once */
  refused(retryAfterMs: number, beganAt: number, now: number): void {
    // One that asks is slowed down enough by the pause.
    const counts = beganAt >= this.#fellAt && !(this.asks && retryAfterMs > 0);
    const rate = this.#rateAt(now);
    if (retryAfterMs > 0) {
      this.pausedUntil = Math.max(this.pausedUntil, now + Math.min(retryAfterMs, LONGEST_PAUSE_MS));
      this.asks = true;
    }
    if (!counts) return;
    this.#rate = Math.max(SLOWEST, FALL * (Number.isFinite(rate) ? rate : this.#latelyAt(now)));
    this.#fellAt = now;
    this.#nextAt = now + Math.max(AFTER_REFUSAL_MS, SECOND / this.#rate);
  }

  /** How many deliveries it takes within so long from now, ms. */
  takesWithin(ms: number, now: number): number {
    const openMs = Math.max(0, ms - Math.max(0, this.pausedUntil - now));
    const byWindow = this.meanMs === 0 ? Number.POSITIVE_INFINITY : (this.window * openMs) / this.meanMs;
    return Math.floor(Math.min(byWindow, (this.#rateAt(now) * openMs) / SECOND));
  }

  /** Infinite: without limit. */
  #rateAt(now: number): number {
    if (this.#rate === Number.POSITIVE_INFINITY) return this.#rate;
    const seconds = Math.max(0, now - Math.max(this.#fellAt, this.pausedUntil)) / SECOND;
    const rate = this.#rate * (1 + GROWTH) ** seconds + MORE * seconds;
    return rate > FASTEST ? Number.POSITIVE_INFINITY : rate;
  }

  #took(durationMs: number): void {
    this.meanMs = this.meanMs === 0 ? Math.max(1, durationMs) : this.meanMs + WEIGHT * (durationMs - this.meanMs);
  }

  #latelyAt(now: number): number {
    return this.#lately === 0 ? 0 : this.#lately * Math.exp((this.#succeededAt - now) / SECOND);
  }
}
