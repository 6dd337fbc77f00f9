/**
 * What an account may add to its history: a bucket of bytes each, which holds the whole budget and refills by a quarter of
 * the budget an hour. A history is for ever, and everybody reads it again: each rebuild, each backup, each audit.
 *
 * The buckets are in the memory of this process, and those of the accounts that were charged last: an account that is not
 * among them has its full budget. So has each account in each process, and after a restart.
 */
import { LRUCache } from 'lru-cache';
import type { NewEvent } from '../ports/event-store.js';

const HOUR_MS = 3_600_000;
const REFILLED_AN_HOUR = 1 / 4;
/** Sums of fractions are a little off; who waited as told is not refused for that. */
const ROUNDING_MS = 0.001;
const REMEMBERED_ACCOUNTS = 20_000;

export interface HistoryBudget {
  /** Takes the bytes where they are left. @returns 0; else ms until they are left, and nothing is taken */
  take(accountId: number, bytes: number): number;
  /** Takes the bytes, or what is left of them. @returns how many were taken */
  charge(accountId: number, bytes: number): number;
  /** What was taken was not appended: no more than that, or failures would fill the budget. */
  giveBack(accountId: number, bytes: number): void;
}

export interface HistoryBudgetOptions {
  /** Larger than every single command; null: no limit. */
  readonly bytes: number | null;
  /** ms of a clock that never goes back */
  readonly now: () => number;
}

export const NO_BUDGET: HistoryBudget = { take: () => 0, charge: () => 0, giveBack: () => undefined };

export function createHistoryBudget({ bytes: budget, now }: HistoryBudgetOptions): HistoryBudget {
  if (budget === null) return NO_BUDGET;
  const msOfAByte = HOUR_MS / (budget * REFILLED_AN_HOUR);
  const whole = budget * msOfAByte;
  // All there is to know of a bucket is when it will be full: what is missing is the time until then.
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

/** Of data and metadata, as they are stored. */
export function bytesOf(events: readonly NewEvent[]): number {
  const sizeOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json));
  return events.reduce((sum, { data, metadata }) => sum + sizeOf(data) + sizeOf(metadata), 0);
}
