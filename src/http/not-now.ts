/**
 * Temporary outages, accounts with too many commands waiting, and accounts that are set aside until another release can read
 * their events. The watch over the store reports the cause once, not with every request.
 */
import { BrokerUnavailable, RecordRefused } from '../ports/broker.js';
import { OtherHistory, StoreUnavailable } from '../ports/event-store.js';
import { ReadModelBehind } from '../read-model/account-states.js';
import { AccountUnreadable } from '../read-model/account-unreadable.js';
import { TooManyWaiting } from '../webhooks/account-turns.js';
import { ApiError } from './api-error.js';

const RETRY_AFTER_SECONDS = 5;

/** What a topic refuses has passed every check here: its settings are in the way. */
const OUTAGES = [BrokerUnavailable, RecordRefused, StoreUnavailable, OtherHistory, ReadModelBehind, AccountUnreadable];

/** The 503 or 429 for the caller; null for any other error. */
export function notNow(error: unknown): ApiError | null {
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  if (error instanceof TooManyWaiting) {
    return new ApiError(429, 'too many requests of this account wait; Retry-After says when to try again', { headers });
  }
  if (!OUTAGES.some((outage) => error instanceof outage)) return null;
  return new ApiError(503, 'the service is unavailable; Retry-After says when to try again', { headers });
}
