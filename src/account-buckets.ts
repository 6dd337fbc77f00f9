/**
 * Token buckets, one per account, in the memory of this process: an account that is not in it, because others were used since,
 * or after a restart, has a full bucket. What is taken is counted in ms: the time until as much has flowed in again.
 */
import { LRUCache } from 'lru-cache';

/** Sums of fractions are slightly inexact; a client that waited as told is not refused for that. */
const ROUNDING_MS = 0.001;
const REMEMBERED_ACCOUNTS = 20_000;

export interface AccountBucketsOptions {
  /** The time in which an empty bucket fills up. */
  readonly holdsMs: number;
  /** ms of a monotonic clock */
  readonly now: () => number;
}

export class AccountBuckets {
  readonly #options: AccountBucketsOptions;
  /** The time when a bucket will be full is its whole state: the missing amount is the time until then. */
  readonly #fullAt = new LRUCache<number, number>({ max: REMEMBERED_ACCOUNTS });

  constructor(options: AccountBucketsOptions) {
    this.#options = options;
  }

  /** Takes it if there is as much. @returns ms until there is; 0 or less: it was taken, and as much is left */
  take(accountId: number, ms: number): number {
    const missing = this.#missing(accountId) + ms;
    const tooEarly = missing - this.#options.holdsMs;
    if (tooEarly >= ROUNDING_MS) return tooEarly;
    this.#set(accountId, missing);
    return Math.min(0, tooEarly);
  }

  /** Takes it, or as much as there is. @returns how much was taken */
  drain(accountId: number, ms: number): number {
    const before = this.#missing(accountId);
    const after = Math.min(this.#options.holdsMs, before + ms);
    this.#set(accountId, after);
    return after - before;
  }

  /** Takes it, though there may be less: until that has flowed in, the bucket is overdrawn. */
  overdraw(accountId: number, ms: number): void {
    this.#set(accountId, this.#missing(accountId) + ms);
  }

  giveBack(accountId: number, ms: number): void {
    this.#set(accountId, Math.max(0, this.#missing(accountId) - ms));
  }

  /** Time until the bucket is no longer overdrawn; 0: it is not. */
  overdrawnFor(accountId: number): number {
    return Math.max(0, this.#missing(accountId) - this.#options.holdsMs - ROUNDING_MS);
  }

  #missing(accountId: number): number {
    return Math.max(0, (this.#fullAt.get(accountId) ?? 0) - this.#options.now());
  }

  #set(accountId: number, missing: number): void {
    this.#fullAt.set(accountId, this.#options.now() + missing);
  }
}
