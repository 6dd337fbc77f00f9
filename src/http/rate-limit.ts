/** Limits the requests of an account per minute. admission.ts limits what its reads cost. */
import type { Context, Next } from 'koa';
import { AccountBuckets } from '../webhooks/account-buckets.js';
import type { ClientOwner } from '../webhooks/events.js';
import { ApiError } from './api-error.js';
import { callerOf } from './request-context.js';

const WINDOW_MS = 60_000;
/** Sums of fractions are slightly inexact: a request that is left to them counts as one. */
const ROUNDING_MS = 0.001;

export interface RateLimit {
  /** Takes one request from the bucket of the account, or of the publisher. */
  take(owner: ClientOwner): { readonly allowed: boolean; readonly headers: Readonly<Record<string, string>> };
}

export interface RateLimitOptions {
  /** As in the headers. */
  readonly name: string;
  /** 0: no limit, and no headers. */
  readonly perMinute: number;
  /** ms of a monotonic clock */
  readonly now: () => number;
}

/** A token bucket per account, of a minute's worth; RateLimit headers (draft-ietf-httpapi-ratelimit-headers-10). */
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
    if (!allowed) throw new ApiError({ code: 'too-many-requests' });
    await next();
  };
}
