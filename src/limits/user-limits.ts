/**
 * Whom a limit counts. Every limit of the API is counted for each user of an account (a session, a client id, or the `sub` of an
 * issuer's token), within a ceiling for the account: one user can use up half of the ceiling, several can use up all of it.
 * Therefore a request that removes or revokes may exceed them all, within a small reserve (reserve.ts).
 */
import { TokenBuckets, type TokenBucketsOptions } from '../time/token-buckets.js';

export type Owner = number | string;

export interface Requester {
  /** The account, or the publisher. */
  readonly owner: Owner;
  /** Unique within the owner. */
  readonly user: string;
  /** Called only where a limit would reject the request. */
  mayExceed(): boolean;
}

/** Counted like any user, without a reserve. */
export function requester(owner: Owner, user: string): Requester {
  return { owner, user, mayExceed: () => false };
}

/** One user may take up to this share of what its account may. */
export const USER_SHARE = 1 / 2;

type Counted = Pick<Requester, 'owner' | 'user'>;

/** Token buckets shared by the users of an account: one for each account, and one for each of its users, half as large. */
export class SharedBuckets {
  readonly #holdsMs: number;
  /** Apart, so that many users of one account push no other account's bucket out of memory. */
  readonly #users: TokenBuckets;
  readonly #owners: TokenBuckets;

  constructor(options: TokenBucketsOptions) {
    this.#holdsMs = options.holdsMs;
    this.#users = new TokenBuckets(options);
    this.#owners = new TokenBuckets(options);
  }

  /** @returns ms until there is as much; 0: it was taken, or the requester may exceed the limit and nothing was taken */
  take(requester: Requester, ms: number): number {
    const waitMs = this.#taken(requester, ms);
    return waitMs > 0 && requester.mayExceed() ? 0 : Math.max(0, waitMs);
  }

  /**
   * Like `take`, but a requester that may exceed the limit takes the amount, too, until a bucket is overdrawn by `maxDebtMs`.
   * For amounts that are kept for an account: a number of requests does not bound them.
   */
  takeOrOverdraw(requester: Requester, ms: number, maxDebtMs: number): number {
    const waitMs = this.#taken(requester, ms);
    if (waitMs <= 0) return 0;
    if (this.#debtMs(requester) >= maxDebtMs || !requester.mayExceed()) return waitMs;
    this.overdraw(requester, ms);
    return 0;
  }

  /** Takes it even if there is less: until that has refilled, the bucket is overdrawn. */
  overdraw(counted: Counted, ms: number): void {
    this.#users.overdraw(userKey(counted), ms / USER_SHARE);
    this.#owners.overdraw(counted.owner, ms);
  }

  giveBack(counted: Counted, ms: number): void {
    this.#users.giveBack(userKey(counted), this.#share(ms));
    this.#owners.giveBack(counted.owner, ms);
  }

  /** @returns ms until neither bucket is overdrawn; 0: neither is, or the requester may exceed the limit */
  overdrawnFor(requester: Requester): number {
    const waitMs = this.#debtMs(requester);
    return waitMs > 0 && requester.mayExceed() ? 0 : waitMs;
  }

  #debtMs(counted: Counted): number {
    return Math.max(this.#users.overdrawnFor(userKey(counted)), this.#owners.overdrawnFor(counted.owner));
  }

  #taken(counted: Counted, ms: number): number {
    const key = userKey(counted);
    const waitMs = this.#users.take(key, this.#share(ms));
    if (waitMs > 0) return waitMs;
    const ownerWaitMs = this.#owners.take(counted.owner, ms);
    if (ownerWaitMs > 0) this.#users.giveBack(key, this.#share(ms));
    return ownerWaitMs;
  }

  /** What fits into the bucket of the account fits into that of a user who has taken nothing. */
  #share(ms: number): number {
    return Math.max(ms, Math.min(ms / USER_SHARE, this.#holdsMs));
  }
}

function userKey({ owner, user }: Counted): string {
  return `${owner} ${user}`;
}

const WINDOW_MS = 60_000;

/** Takes one request. @returns ms until there is one; 0: it was taken */
export type RateLimit = (requester: Requester) => number;

/** A bucket of a minute's requests. @param perMinute of an account; 0: no limit @param now ms of a monotonic clock */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  if (perMinute === 0) return () => 0;
  const buckets = new SharedBuckets({ holdsMs: WINDOW_MS, now });
  return (requester) => buckets.take(requester, WINDOW_MS / perMinute);
}
