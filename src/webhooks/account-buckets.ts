/**
 * Limits in bytes: how much an account may add to its history, by which commands, and how many requests the service keeps
 * for it.
 */

import type { Requester } from '../limits/user-limits.js';
import { SharedBuckets } from '../limits/user-limits.js';
import type { NewEvent } from '../ports/event-store.js';
import { type Command, isReconfiguring } from './decide.js';

/**
 * How far a request that draws on a reserve may overdraw a budget: about 100 rotations of signing secrets. It is charged, so
 * that what is kept for an account has a limit whatever the reserve lets through.
 */
const MAX_DEBT_BYTES = 64 * 1024;

const HOUR_MS = 3_600_000;
const REFILLED_AN_HOUR = 1 / 4;

/** A history is permanent, and every rebuild, backup and audit reads it again. */
export interface HistoryBudget {
  /** Takes the bytes if they are available. @returns 0; otherwise ms until they are, and nothing is taken */
  take(requester: Requester, bytes: number): number;
  /** Returns bytes that were taken but not appended: no more, or failures would fill the budget. */
  giveBack(requester: Requester, bytes: number): void;
}

export const NO_BUDGET: HistoryBudget = { take: () => 0, giveBack: () => undefined };

/** @param budget larger than any single command; 0: no limit @param now ms of a monotonic clock */
export function createHistoryBudget(budget: number, now: () => number): HistoryBudget {
  if (budget === 0) return NO_BUDGET;
  const msOfAByte = HOUR_MS / (budget * REFILLED_AN_HOUR);
  const buckets = new SharedBuckets({ holdsMs: budget * msOfAByte, now });
  return {
    take: (requester, bytes) => buckets.takeOrOverdraw(requester, bytes * msOfAByte, MAX_DEBT_BYTES * msOfAByte),
    giveBack: (requester, bytes) => buckets.giveBack(requester, bytes * msOfAByte),
  };
}

/** Of an account's own commands, those that only take something away are accepted whatever its budget is. */
const SENDERS: Readonly<Record<Command['type'], 'account' | 'account, always accepted' | 'service'>> = {
  RegisterWebhook: 'account',
  RegisterWebhooks: 'account',
  MoveWebhooks: 'account',
  UpdateWebhook: 'account',
  RemoveWebhook: 'account, always accepted',
  StartRecovery: 'account',
  StopRecovery: 'account, always accepted',
  SetNotices: 'account',
  RemoveNotices: 'account, always accepted',
  DeactivateWebhook: 'service',
  NoteEndpointFailing: 'service',
  AnnounceDeactivation: 'service',
  NoteEndpointRecovered: 'service',
  DeactivateFailingEndpoint: 'service',
  FinishRecovery: 'service',
};

export function isOfService({ type }: Command): boolean {
  return SENDERS[type] === 'service';
}

/** Whether the account's budget is charged for the command, and may reject it. */
export function mayBeRejected(command: Command): boolean {
  if (command.type === 'UpdateWebhook') return command.isActive !== false || isReconfiguring(command);
  return SENDERS[command.type] === 'account';
}

const REQUESTED_AT_ONCE = 256 * 1024 * 1024;
const REQUESTED_A_SECOND = 64 * 1024;

/**
 * What an account's resends, recoveries and cancellations make the service keep: nothing else bounds it.
 * @param now ms of a monotonic clock @param atOnce bytes
 */
export function createRequestBudget(now: () => number, atOnce = REQUESTED_AT_ONCE) {
  const msOfAByte = 1_000 / REQUESTED_A_SECOND;
  const buckets = new SharedBuckets({ holdsMs: atOnce * msOfAByte, now });
  /** Takes the bytes if they are available. @returns ms until they are; 0: they were taken */
  const take = (requester: Requester, bytes: number) =>
    buckets.takeOrOverdraw(requester, bytes * msOfAByte, MAX_DEBT_BYTES * msOfAByte);
  return { take };
}

/** The stored size of data and metadata. */
export function bytesOf(events: readonly NewEvent[]): number {
  const sizeOf = (json: unknown) => Buffer.byteLength(JSON.stringify(json));
  return events.reduce((sum, { data, metadata }) => sum + sizeOf(data) + sizeOf(metadata), 0);
}
