/**
 * Token buckets, one per owner (an account, a publisher, a URL), in the memory of this process: an owner that is not in it,
 * because others were used since, or after a restart, has a full bucket. What is taken is counted in ms: the time until as much
 * has flowed in again.
 */
import { LRUCache } from 'lru-cache';

/** Sums of fractions are slightly inexact; a client that waited as told is not refused for that. */
const ROUNDING_MS = 0.001;
const REMEMBERED = 20_000;

type Owner = number | string;

export interface TokenBucketsOptions {
  /** The time in which an empty bucket fills up. */
  readonly holdsMs: number;
  /** ms of a monotonic clock */
  readonly now: () => number;
}

export class TokenBuckets {
  readonly #options: TokenBucketsOptions;
  /** The time when a bucket will be full is its whole state: the missing amount is the time until then. */
  readonly #fullAt = new LRUCache<Owner, number>({ max: REMEMBERED });

  constructor(options: TokenBucketsOptions) {
    this.#options = options;
  }

  /** Takes it if there is as much. @returns ms until there is; 0 or less: it was taken, and as much is left */
  take(owner: Owner, ms: number): number {
    const missing = this.#missing(owner) + ms;
    const tooEarly = missing - this.#options.holdsMs;
    if (tooEarly >= ROUNDING_MS) return tooEarly;
    this.#set(owner, missing);
    return Math.min(0, tooEarly);
  }

  /** Takes it, though there may be less: until that has flowed in, the bucket is overdrawn. */
  overdraw(owner: Owner, ms: number): void {
    this.#set(owner, this.#missing(owner) + ms);
  }

  giveBack(owner: Owner, ms: number): void {
    this.#set(owner, Math.max(0, this.#missing(owner) - ms));
  }

  /** Time until the bucket is no longer overdrawn; 0: it is not. */
  overdrawnFor(owner: Owner): number {
    return Math.max(0, this.#missing(owner) - this.#options.holdsMs - ROUNDING_MS);
  }

  #missing(owner: Owner): number {
    return Math.max(0, (this.#fullAt.get(owner) ?? 0) - this.#options.now());
  }

  #set(owner: Owner, missing: number): void {
    this.#fullAt.set(owner, this.#options.now() + missing);
  }
}
