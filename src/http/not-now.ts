/**
 * Outages that pass, an account that gives more commands than are handled, and one that is set aside until another release reads its events: what stands behind them is
 * told once, by who watches the store, and not with every request.
 */
import { OtherHistory, StoreUnavailable } from '../ports/event-store.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { ReadModelBehind } from '../read-model/ahead-states.js';
import { TooManyWaiting } from '../webhooks/account-turns.js';
import { ApiError } from './api-error.js';

const RETRY_AFTER_SECONDS = 5;

const OUTAGES = [StoreUnavailable, OtherHistory, ReadModelBehind, AccountUnreadable];

/** The 503 or 429 that the error is to the caller; null where it is something else. */
export function notNow(error: unknown): ApiError | null {
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  if (error instanceof TooManyWaiting) {
    return new ApiError(429, 'too many requests of this account wait; Retry-After says when to try again', { headers });
  }
  if (!OUTAGES.some((outage) => error instanceof outage)) return null;
  return new ApiError(503, 'the service is unavailable; Retry-After says when to try again', { headers });
}
