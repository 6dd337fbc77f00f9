/**
 * Temporary outages, and accounts that are set aside until another release can read their events. The watch over the
 * store reports the cause once, not with every request.
 */
import { OtherHistory, StoreUnavailable } from '../ports/event-store.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { ReadModelBehind } from '../read-model/ahead-states.js';
import { ApiError } from './api-error.js';

const RETRY_AFTER_SECONDS = 5;

const OUTAGES = [StoreUnavailable, OtherHistory, ReadModelBehind, AccountUnreadable];

/** The 503 for the caller; null for any other error. */
export function notNow(error: unknown): ApiError | null {
  if (!OUTAGES.some((outage) => error instanceof outage)) return null;
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  return new ApiError(503, 'the service is unavailable; Retry-After says when to try again', { headers });
}
