/**
 * Limits what an account may add to its history: a bucket of bytes per account, which holds the whole budget and
 * refills by a quarter of the budget per hour. A history is permanent, and every rebuild, backup and audit reads it
 * again.
 *
 * The buckets are in this process's memory, for the accounts charged most recently; any other account has its full
 * budget. So has each account in each process, and after a restart.
 */
import { LRUCache } from 'lru-cache';
import type { NewEvent } from '../ports/event-store.js';

const HOUR_MS = 3_600_000;
const REFILLED_AN_HOUR = 1 / 4;
/** Sums of fractions are slightly inexact; a client that waited as told is not refused for that. */
const ROUNDING_MS = 0.001;
const REMEMBERED_ACCOUNTS = 20_000;

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
  const whole = budget * msOfAByte;
  // The time when a bucket will be full is its whole state: the missing amount is the time until then.
  const fullAt = new LRUCache<number, number>({ max: REMEMBERED_ACCOUNTS });
  const missing = (accountId: number) => Math.max(0, (fullAt.get(accountId) ?? 0) - now());
  return {
    take(accountId, bytes) {
      const after = missing(accountId) + bytes * msOfAByte;
      if (after - whole > ROUNDING_MS) return after - whole;
      fullAt.set(accountId, now() + after);
      return 0;
    },
    charge(accountId, bytes) {
      const before = missing(accountId);
      const after = Math.min(whole, before + bytes * msOfAByte);
      fullAt.set(accountId, now() + after);
      return (after - before) / msOfAByte;
    },
    giveBack(accountId, bytes) {
      fullAt.set(accountId, now() + Math.max(0, missing(accountId) - bytes * msOfAByte));
    },
  };
}

/** The stored size of data and metadata. */
export function bytesOf(events: readonly NewEvent[]): number {
  const sizeOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json));
  return events.reduce((sum, { data, metadata }) => sum + sizeOf(data) + sizeOf(metadata), 0);
}
