/**
 * How an endpoint takes deliveries, by its attempts so far. It is kept while the endpoint is idle.
 *
 * The window is how many attempts may be in flight: 1 at first, 1 more with each 2xx, half as many with each failure. A
 * refusal (429, or 503 with Retry-After) is no failure: it gives the endpoint a rate, which falls with each refusal and
 * grows with time (additive increase, multiplicative decrease), and Retry-After a pause, after which one attempt asks.
 */
import { UsualRate } from '../../time/usual-rate.js';
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
/** What fails queues what it takes before a deferred delivery would be back; others what they take in that time. */
export const SOON_MS = 5_000;
const PATIENT_MS = 60_000;
const PACED_MS = 120_000;
/** A deferred delivery returns that long before its turn: its record may be late by the shortest tier. */
const EARLY_MS = 5_000;
/**
 * Limits on turns, by what the endpoint costs: a busy thread makes healthy ones look expensive for a while. Deliveries of those
 * that surely are return seldom, because each return costs a deferral. No turn of either kind is further away than the time since
 * the endpoint's first attempt: in its first seconds on a busy machine, a process takes healthy endpoints for expensive ones.
 */
const MAX_TURN_MS = { cheap: Number.POSITIVE_INFINITY, doubtful: 60_000, expensive: 600_000 };

/** An endpoint's first 2xx count as if they had taken so long at least. */
const LEAST_AGE_MS = 10_000;

/** If the thread is busy for this share of an attempt, the process delays it by up to MAX_DELAY_MS. */
const SATURATED = 0.9;
const MAX_DELAY_MS = 200;
const MIN_TOOK_MS = 5;

/**
 * How long an attempt took without the delay by this process, ms. While the thread has no time, an endpoint that responds instantly
 * has attempts of 100 ms: it would seem to be the bottleneck, and most of a burst for it would be deferred.
 * Hazard: an endpoint of 100 ms seems instant as well then. Three times the lateness of the event loop was too tight a limit.
 * @param busyMs how long the thread was busy during the attempt
 */
export function withoutDelay(tookMs: number, busyMs: number): number {
  if (busyMs < SATURATED * tookMs) return tookMs;
  return Math.max(Math.min(tookMs, MIN_TOOK_MS), tookMs - Math.min(busyMs, MAX_DELAY_MS));
}

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
  /** Of 2xx, since its first attempt. */
  #usually: UsualRate | null = null;
  #firstBeganAt: number | null = null;
  /** When the last of the deliveries has its turn that wait elsewhere, by what the endpoint seemed to cost then. */
  readonly #bookedUntil = { cheap: 0, doubtful: 0, expensive: 0 };

  /** No attempt has ended that shows anything. */
  isUntried = true;

  /** The same, and its first attempt has not begun, or has just begun. */
  isUnknown(now: number): boolean {
    return this.isUntried && now - (this.#firstBeganAt ?? now) < SECOND;
  }

  /** Has taken deliveries, and most of late. */
  get isProven(): boolean {
    // Where a window is never larger than 1, the last result counts.
    return this.window > 1 || (this.failingSince === null && this.#succeededAt >= 0);
  }

  /** Takes deliveries, and costs this process little. */
  get isCheap(): boolean {
    return this.isProven && !this.cost.isDear;
  }

  /** The same, as far as its few attempts show. */
  get seemsCheap(): boolean {
    return this.isProven && !this.cost.isSurelyDear;
  }

  /** Whether the next attempt is within the rate that the endpoint had recently. */
  isUsual(now: number): boolean {
    return this.#usually?.isUsual(now) ?? false;
  }

  /** Takes nothing. */
  get isFailing(): boolean {
    return this.failingSince !== null && !this.isProven;
  }

  /** For how long it keeps what is queued. */
  patienceMs(now: number): number {
    if (this.asks || this.isPaced(now)) return PACED_MS;
    return this.isFailing ? SOON_MS : PATIENT_MS;
  }

  /** It asked for less than it would get. */
  isPaced(now: number): boolean {
    return Number.isFinite(this.#rateAt(now));
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
    this.#firstBeganAt ??= now;
    this.#usually ??= new UsualRate({ since: now, leastMs: LEAST_AGE_MS });
    this.#usually.began(now);
    if (this.#rate !== Number.POSITIVE_INFINITY)
      this.#nextAt = Math.max(now, this.#nextAt) + SECOND / this.#rateAt(now);
  }

  succeeded(durationMs: number, now: number, perEndpoint: number): void {
    this.isUntried = false;
    this.#lately = this.#latelyAt(now) + 1;
    this.#usually?.counts(now);
    this.#succeededAt = now;
    this.asks = false;
    this.failingSince = null;
    this.window = Math.min(perEndpoint, this.window + 1);
    this.#took(durationMs);
  }

  failed(durationMs: number, now: number): void {
    this.isUntried = false;
    this.failingSince ??= now;
    this.window = Math.max(1, this.window >> 1);
    this.#took(durationMs);
  }

  /** @param retryAfterMs what it asked for; 0: nothing. @param beganAt those that were in flight together count once */
  refused(retryAfterMs: number, beganAt: number, now: number): void {
    // One that asks is slowed down enough by the pause.
    this.isUntried = false;
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

  /** How many deliveries may be queued, however much memory is left. */
  queues(now: number, perEndpoint: number): number {
    return this.takesWithin(this.patienceMs(now), now, this.isFailing ? this.window : perEndpoint);
  }

  /** How many deliveries it takes within so long from now, ms. */
  takesWithin(ms: number, now: number, window = this.window): number {
    const openMs = Math.max(0, ms - Math.max(0, this.pausedUntil - now));
    return Math.floor(openMs * this.#perMs(now, window));
  }

  /**
   * The turn of one more delivery that waits elsewhere, behind those that do, unless it has waited for its turn.
   * @param queued that come before @returns after how long it returns, ms; 0: its rate is unknown
   */
  bookTurn(queued: number, now: number, perEndpoint: number, hadTurn = false): number {
    const ownPerMs = this.#perMs(now, perEndpoint);
    // A dear one gets less of the thread than it could use.
    const dearPerMs = Math.max(SLOWEST / SECOND, this.#usually?.perMs ?? 0);
    const perMs = this.cost.isDear ? Math.min(ownPerMs, dearPerMs) : ownPerMs;
    if (!this.isProven || this.isPaced(now) || perMs === Number.POSITIVE_INFINITY) return 0;
    const kind = this.cost.isSurelyDear ? 'expensive' : this.cost.isDear ? 'doubtful' : 'cheap';
    const limitMs = kind === 'cheap' ? Number.POSITIVE_INFINITY : now - (this.#firstBeganAt ?? now);
    const latest = now + Math.min(MAX_TURN_MS[kind], limitMs);
    const queuedUntil = Math.min(latest, now + queued / perMs);
    const booked = this.#bookedUntil;
    if (!hadTurn) booked[kind] = Math.min(latest, Math.max(booked[kind], queuedUntil) + 1 / perMs);
    return Math.max(1, (hadTurn ? queuedUntil : booked[kind]) - EARLY_MS - now);
  }

  /** At its own rate, with as many at once. Until its first attempt has ended, as if that took until now. */
  #perMs(now: number, window: number): number {
    const soFarMs = this.isUntried && this.#firstBeganAt !== null ? now - this.#firstBeganAt : 0;
    const meanMs = this.meanMs || soFarMs;
    return Math.min(meanMs === 0 ? Number.POSITIVE_INFINITY : window / meanMs, this.#rateAt(now) / SECOND);
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
