/**
 * Token buckets, one per account, publisher or URL, in the memory of this process: an account that is not in it, because others
 * were used since, or after a restart, has a full bucket. What is taken is counted in ms: the time until as much has flowed
 * in again. One kind of them limits what an account may add to its history, another (deferral-pace.ts) the deferrals of a URL.
 */
import { LRUCache } from 'lru-cache';
import type { NewEvent } from '../ports/event-store.js';
import type { ClientOwner } from './events.js';

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
  readonly #fullAt = new LRUCache<ClientOwner, number>({ max: REMEMBERED_ACCOUNTS });

  constructor(options: AccountBucketsOptions) {
    this.#options = options;
  }

  /** Takes it if there is as much. @returns ms until there is; 0 or less: it was taken, and as much is left */
  take(owner: ClientOwner, ms: number): number {
    const missing = this.#missing(owner) + ms;
    const tooEarly = missing - this.#options.holdsMs;
    if (tooEarly >= ROUNDING_MS) return tooEarly;
    this.#set(owner, missing);
    return Math.min(0, tooEarly);
  }

  /** Takes it, though there may be less: until that has flowed in, the bucket is overdrawn. */
  overdraw(owner: ClientOwner, ms: number): void {
    this.#set(owner, this.#missing(owner) + ms);
  }

  giveBack(owner: ClientOwner, ms: number): void {
    this.#set(owner, Math.max(0, this.#missing(owner) - ms));
  }

  /** Time until the bucket is no longer overdrawn; 0: it is not. */
  overdrawnFor(owner: ClientOwner): number {
    return Math.max(0, this.#missing(owner) - this.#options.holdsMs - ROUNDING_MS);
  }

  #missing(owner: ClientOwner): number {
    return Math.max(0, (this.#fullAt.get(owner) ?? 0) - this.#options.now());
  }

  #set(owner: ClientOwner, missing: number): void {
    this.#fullAt.set(owner, this.#options.now() + missing);
  }
}

const HOUR_MS = 3_600_000;
const REFILLED_AN_HOUR = 1 / 4;

/** A history is permanent, and every rebuild, backup and audit reads it again. */
export interface HistoryBudget {
  /** Takes the bytes if they are available. @returns 0; otherwise ms until they are, and nothing is taken */
  take(accountId: number, bytes: number): number;
  /** Returns bytes that were taken but not appended: no more, or failures would fill the budget. */
  giveBack(accountId: number, bytes: number): void;
}

export const NO_BUDGET: HistoryBudget = { take: () => 0, giveBack: () => undefined };

/** @param budget larger than any single command; 0: no limit @param now ms of a monotonic clock */
export function createHistoryBudget(budget: number, now: () => number): HistoryBudget {
  if (budget === 0) return NO_BUDGET;
  const msOfAByte = HOUR_MS / (budget * REFILLED_AN_HOUR);
  const buckets = new AccountBuckets({ holdsMs: budget * msOfAByte, now });
  return {
    take: (accountId, bytes) => Math.max(0, buckets.take(accountId, bytes * msOfAByte)),
    giveBack: (accountId, bytes) => buckets.giveBack(accountId, bytes * msOfAByte),
  };
}

const REQUESTED_AT_ONCE = 256 * 1024 * 1024;
const REQUESTED_A_SECOND = 64 * 1024;

/**
 * What an account's resends, recoveries and cancellations make the service keep: nothing else bounds it.
 * @param now ms of a monotonic clock @param atOnce bytes
 */
export function createRequestBudget(now: () => number, atOnce = REQUESTED_AT_ONCE) {
  const msOfAByte = 1_000 / REQUESTED_A_SECOND;
  const buckets = new AccountBuckets({ holdsMs: atOnce * msOfAByte, now });
  /** Takes the bytes if they are available. @returns ms until they are; 0 or less: they were taken */
  const take = (accountId: number, bytes: number) => buckets.take(accountId, bytes * msOfAByte);
  return { take };
}

/** The stored size of data and metadata. */
export function bytesOf(events: readonly NewEvent[]): number {
  const sizeOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json));
  return events.reduce((sum, { data, metadata }) => sum + sizeOf(data) + sizeOf(metadata), 0);
}
