/**
 * How an endpoint takes deliveries, by its attempts so far: the one number that windows, lines and the intake go by.
 *
 *   new     -> proven | slow | failing   (its first attempt has ended)
 *   proven  -> slow      (2xx after QUICK_MS; or an attempt is older than that, and none got a 2xx since it began)
 *   slow    -> proven    (2xx within QUICK_MS)
 *   any     -> failing   (no 2xx)
 *   failing -> proven | slow
 *
 * The window is how many attempts may be under way: one at first, one more with each 2xx, half as many with each failure.
 */
export type Trust = 'new' | 'proven' | 'slow' | 'failing';

/** An attempt that takes longer is slow; from then on it holds no place. */
export const QUICK_MS = 1_000;
/** In the mean. */
const SWIFT_MS = 100;
/** Of the last attempt in the mean: a single slow answer of a quick endpoint says little. */
const WEIGHT = 1 / 8;
/** Of a failure without a 2xx beside it. */
const WEIGHT_ALONE = 1 / 2;

export class EndpointPace {
  readonly #mostAtOnce: number;
  #trust: Trust = 'new';
  #window = 1;
  #meanMs = 0;
  #succeededAt = Number.NEGATIVE_INFINITY;

  constructor(mostAtOnce: number) {
    this.#mostAtOnce = mostAtOnce;
  }

  get trust(): Trust {
    return this.#trust;
  }

  get window(): number {
    return this.#window;
  }

  /** Takes what comes, and soon: a long line is no sign of trouble. */
  get isQuick(): boolean {
    return (this.#trust === 'proven' || this.#trust === 'slow') && this.#meanMs < QUICK_MS;
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
    // What it took to fail says nothing of how long the endpoint takes now.
    if (this.#trust === 'failing') this.#meanMs = Math.min(this.#meanMs, durationMs);
    this.#trust = durationMs < QUICK_MS ? 'proven' : 'slow';
    this.#window = Math.min(this.#mostAtOnce, this.#window + 1);
    this.#succeededAt = now;
    this.#count(durationMs, WEIGHT);
  }

  /** @returns whether the endpoint seems to stand: none got a 2xx since the attempt began */
  failed(durationMs: number, beganAt: number): boolean {
    const seemsToStand = this.#succeededAt <= beganAt;
    this.#trust = 'failing';
    this.#window = Math.max(1, Math.floor(this.#window / 2));
    this.#count(durationMs, seemsToStand ? WEIGHT_ALONE : WEIGHT);
    return seemsToStand;
  }

  /** An attempt is older than QUICK_MS. @returns whether the endpoint seems to stand: none got a 2xx since it began */
  grewOld(beganAt: number): boolean {
    if (this.#succeededAt > beganAt) return false;
    if (this.#trust === 'proven') this.#trust = 'slow';
    this.#meanMs = Math.max(this.#meanMs, QUICK_MS);
    return true;
  }

  #count(durationMs: number, weight: number): void {
    const before = this.#meanMs === 0 ? durationMs : this.#meanMs;
    this.#meanMs = Math.max(1, before + weight * (durationMs - before));
  }
}
