/**
 * Limits what an account may add to its history: a bucket of bytes per account (account-buckets.ts), which holds the whole
 * budget and refills by a quarter of the budget per hour. A history is permanent, and every rebuild, backup and audit reads
 * it again.
 */

import type { NewEvent } from '../ports/event-store.js';
import { AccountBuckets } from './account-buckets.js';

const HOUR_MS = 3_600_000;
const REFILLED_AN_HOUR = 1 / 4;

export interface HistoryBudget {
  /** Takes the bytes if they are available. @returns 0; otherwise ms until they are, and nothing is taken */
  take(accountId: number, bytes: number): number;
  /** Takes the bytes, or as many as are left. @returns how many were taken */
  charge(accountId: number, bytes: number): number;
  /** Returns bytes that were taken but not appended: no more, or failures would fill the budget. */
  giveBack(accountId: number, bytes: number): void;
}

export interface HistoryBudgetOptions {
  /** Larger than any single command; null: no limit. */
  readonly bytes: number | null;
  /** ms of a monotonic clock */
  readonly now: () => number;
}

export const NO_BUDGET: HistoryBudget = { take: () => 0, charge: () => 0, giveBack: () => undefined };

export function createHistoryBudget({ bytes: budget, now }: HistoryBudgetOptions): HistoryBudget {
  if (budget === null) return NO_BUDGET;
  const msOfAByte = HOUR_MS / (budget * REFILLED_AN_HOUR);
  const buckets = new AccountBuckets({ holdsMs: budget * msOfAByte, now });
  return {
    take: (accountId, bytes) => Math.max(0, buckets.take(accountId, bytes * msOfAByte)),
    charge: (accountId, bytes) => buckets.drain(accountId, bytes * msOfAByte) / msOfAByte,
    giveBack: (accountId, bytes) => buckets.giveBack(accountId, bytes * msOfAByte),
  };
}

/** The stored size of data and metadata. */
export function bytesOf(events: readonly NewEvent[]): number {
  const sizeOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json));
  return events.reduce((sum, { data, metadata }) => sum + sizeOf(data) + sizeOf(metadata), 0);
}
