/**
 * How an endpoint takes deliveries, by its attempts so far.
 *
 *   new     -> proven | slow | failing   (its first attempt has ended)
 *   proven  -> slow      (2xx after QUICK_MS; or an attempt is older than that, and none got a 2xx since it began)
 *   slow    -> proven    (2xx within QUICK_MS)
 *   any     -> failing   (no 2xx)
 *   failing -> proven | slow
 *
 * The window is how many attempts may be under way: one at first, one more with each 2xx, half as many with each failure.
 */
type Trust = 'new' | 'proven' | 'slow' | 'failing';

/** An attempt that takes longer is slow; from then on it holds no place. */
export const QUICK_MS = 1_000;
/** In the mean. */
const SWIFT_MS = 100;
/** Of the last attempt in the mean: a single slow answer of a quick endpoint says little. */
const WEIGHT = 1 / 8;
const MOST_FAILURES = 10;
/** Of a failure without a 2xx beside it. */
const WEIGHT_ALONE = 1 / 2;

export class EndpointPace {
  readonly #mostAtOnce: number;
  #trust: Trust = 'new';
  #window = 1;
  /** What the endpoint takes now, failures included. */
  #meanMs = 0;
  /** Of 2xx alone: a quick failure does not make it quick. */
  #successMs = 0;
  #succeededAt = Number.NEGATIVE_INFINITY;
  #hasSucceeded = false;
  /** An attempt has timed out since the last 2xx. */
  #hangs = false;
  /** In a row. */
  #failures = 0;

  constructor(mostAtOnce: number) {
    this.#mostAtOnce = mostAtOnce;
  }

  get trust(): Trust {
    return this.#trust;
  }

  /** False before the first 2xx, and after a timeout or ten failures in a row. Where true, a long line is no sign of trouble. */
  get isTaking(): boolean {
    return this.#hasSucceeded && !this.#hangs && this.#failures < MOST_FAILURES;
  }

  get isQuick(): boolean {
    return this.isTaking && this.#meanMs < QUICK_MS;
  }

  get isSwift(): boolean {
    return this.#meanMs < SWIFT_MS;
  }

  /** @param old how many of those under way are older than QUICK_MS */
  mayStart(underWay: number, old: number): boolean {
    if (underWay >= this.#window) return false;
    return old === 0 || this.#trust === 'proven' || this.#trust === 'slow';
  }

  /** How many deliveries the endpoint takes within so long, ms. */
  takesWithin(ms: number): number {
    return this.#meanMs === 0 ? Number.POSITIVE_INFINITY : Math.floor((this.#window * ms) / this.#meanMs);
  }

  succeeded(durationMs: number, now: number): void {
    // Slow, and none got a 2xx since it began: see `grewOld`.
    const isSlow = durationMs >= QUICK_MS && this.#succeededAt <= now - durationMs;
    this.#successMs = mean(isSlow ? Math.max(this.#successMs, QUICK_MS) : this.#successMs, durationMs, WEIGHT);
    this.#meanMs = this.#successMs;
    this.#trust = durationMs < QUICK_MS ? 'proven' : 'slow';
    this.#window = Math.min(this.#mostAtOnce, this.#window + 1);
    this.#succeededAt = now;
    this.#hasSucceeded = true;
    this.#hangs = false;
    this.#failures = 0;
  }

  failed(durationMs: number, beganAt: number): void {
    const isAlone = this.#succeededAt <= beganAt;
    this.#hangs ||= isAlone && durationMs >= QUICK_MS;
    this.#failures += 1;
    this.#trust = 'failing';
    this.#window = Math.max(1, Math.floor(this.#window / 2));
    this.#meanMs = mean(this.#meanMs, durationMs, isAlone ? WEIGHT_ALONE : WEIGHT);
  }

  /** An attempt is older than QUICK_MS. That says something where none got a 2xx since it began. */
  grewOld(beganAt: number): void {
    if (this.#succeededAt > beganAt) return;
    if (this.#trust === 'proven') this.#trust = 'slow';
    this.#meanMs = Math.max(this.#meanMs, QUICK_MS);
  }
}

/** @param before 0: none */
function mean(before: number, durationMs: number, weight: number): number {
  return Math.max(1, before === 0 ? durationMs : before + weight * (durationMs - before));
}
