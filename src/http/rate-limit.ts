/**
 * Limits requests per minute and account: one token bucket per account, in this process. A bucket holds a minute's
 * worth, so a burst of that size passes at once. RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10) show the
 * remainder.
 */
import type { Context, Next } from 'koa';
import { AccountBuckets } from '../webhooks/account-buckets.js';
import type { ClientOwner } from '../webhooks/events.js';
import { ApiError } from './api-error.js';
import { callerOf } from './request-context.js';

const WINDOW_MS = 60_000;
/** Sums of fractions are slightly inexact: a request that is left to them counts as one. */
const ROUNDING_MS = 0.001;

interface Take {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RateLimit {
  /** Takes one request from the bucket of the account, or of the publisher. */
  take(owner: ClientOwner): Take;
}

export interface RateLimitOptions {
  /** As in the headers. */
  readonly name: string;
  /** 0: no limit, and no headers. */
  readonly perMinute: number;
  /** ms of a monotonic clock */
  readonly now: () => number;
}

export function createRateLimit({ name, perMinute, now }: RateLimitOptions): RateLimit {
  if (perMinute === 0) return { take: () => ({ allowed: true, headers: {} }) };
  const oneEveryMs = WINDOW_MS / perMinute;
  const policy = { 'ratelimit-policy': `"${name}";q=${perMinute};w=${WINDOW_MS / 1000}` };
  const buckets = new AccountBuckets({ holdsMs: WINDOW_MS, now });
  return {
    take(owner) {
      const tooEarly = buckets.take(owner, oneEveryMs);
      const allowed = tooEarly <= 0;
      // For a refused request the reset is the moment of Retry-After, otherwise the moment of a full bucket.
      const reset = Math.ceil((allowed ? WINDOW_MS + tooEarly : tooEarly) / 1000);
      const left = allowed ? Math.floor((ROUNDING_MS - tooEarly) / oneEveryMs) : 0;
      const headers = { ...policy, ratelimit: `"${name}";r=${left};t=${reset}` };
      return { allowed, headers: allowed ? headers : { ...headers, 'retry-after': String(reset) } };
    },
  };
}

/** After authentication and before any other reading of the request. */
export function limitRate(limit: RateLimit) {
  return async (ctx: Context, next: Next): Promise<void> => {
    const { accountId } = callerOf(ctx);
    const { allowed, headers } = limit.take(accountId);
    ctx.set({ ...headers });
    if (!allowed) throw new ApiError(429, 'too many requests from this account; Retry-After says when to try again');
    await next();
  };
}
