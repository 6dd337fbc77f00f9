/** Limits the requests of an account per minute. admission.ts limits what its reads cost. */
import type { Context } from 'koa';
import { TokenBuckets } from '../time/token-buckets.js';
import type { ClientOwner } from '../webhooks/events.js';
import { ApiError, retryAfter } from './api-error.js';
import { callerOf } from './request-context.js';

const WINDOW_MS = 60_000;

/** Takes one request from the bucket of the account, or of the publisher. @returns ms until there is one; 0: it was taken */
export type RateLimit = (owner: ClientOwner) => number;

/** A token bucket per account, of a minute's worth. @param perMinute 0: no limit @param now ms of a monotonic clock */
export function createRateLimit(perMinute: number, now: () => number): RateLimit {
  if (perMinute === 0) return () => 0;
  const buckets = new TokenBuckets({ holdsMs: WINDOW_MS, now });
  return (owner) => Math.max(0, buckets.take(owner, WINDOW_MS / perMinute));
}

/** @throws ApiError 429 */
export function mustBeWithin(limit: RateLimit, ctx: Context): void {
  const waitMs = limit(callerOf(ctx).accountId);
  if (waitMs > 0) throw new ApiError({ code: 'too-many-requests' }, retryAfter(waitMs));
}
