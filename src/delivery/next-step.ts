/**
 * Decides the consequence of one step of a delivery. Pure: next-step.test.ts has the whole table of results, schedule
 * and time.
 *
 *   attempted -> delivered                                  (2xx)
 *             -> retrying: waits in a tier                  (any other response or none, while a delay is left; or a
 *                                                            throttling response, also to the last attempt)
 *             -> exhausted: a dead letter                   (after the last delay, or its lifetime is over)
 *             -> exhausted: a dead letter, `deactivated`    (410, and the service deactivated the webhook)
 *             -> cancelled                                  (410, and the account had deactivated or removed the webhook)
 *   deferred  -> retrying: waits in a tier, nothing counted (no slot at the endpoint, or our own stop or fault)
 *             -> exhausted: a dead letter                   (its lifetime is over, see `lifetimeMs`)
 *   unsent    -> cancelled                                  (the account deactivated or removed the webhook)
 *             -> exhausted: a dead letter, `deactivated`    (held: the service deactivated the webhook)
 *             -> exhausted: a dead letter, `other-history`  (the webhook's id belongs to another webhook, or to none)
 *             -> exhausted: a dead letter, `account-unreadable`  (an event of the account can't be read)
 */
import type { DeferReason } from '../observability/metrics.js';
import { type Outcome, REMOVAL, type WaitingFor } from '../ports/delivery-order.js';
import type { LoggedAttempt } from '../ports/log-entry.js';
import { isRefusedOnPurpose } from './attempt/classification.js';
import type { EndReason } from './dead-letters.js';
import type { Delivery } from './delivery.js';
import { NOT_DEFERRED } from './delivery-progress.js';
import type { OffBy, Unsent } from './recipient.js';
import { DEFERRALS, type Delay, deferralFor, jittered, lifetimeMs, longestDelayMs } from './retry/retry-schedule.js';
import { type Wait, waitFor, waitOnGrid } from './retry/waiting.js';
import type { Tiers } from './topics.js';

/** Throttling responses in a row that use no step. */
const MAX_FREE_THROTTLES = 20;
/** The wait after a throttling response that names no time, ms. */
const THROTTLED_MS = 1_000;

export type StepResult =
  | { readonly kind: 'delivered'; readonly attempt: LoggedAttempt }
  | Failed
  /** 410, and the webhook of the attempt is inactive now. */
  | { readonly kind: 'switched-off'; readonly by: OffBy; readonly attempt: LoggedAttempt }
  | Deferral
  | { readonly kind: 'unsent'; readonly to: Unsent };

interface Failed {
  readonly kind: 'failed';
  readonly attempt: LoggedAttempt;
  readonly retryAfterMs: number | null;
  /** Its URL accepted nothing lately, and failed: see EndpointPace.isFailing. */
  readonly isFailing: boolean;
}

interface Deferral {
  readonly kind: 'deferred';
  readonly why: DeferReason;
  /** How long the URL's pause yet lasts; 0: none. */
  readonly pausedMs: number;
  /** After how long it returns for its turn in a queue; 0: unknown. */
  readonly turnMs: number;
}

export interface StepTime {
  readonly schedule: readonly Delay[];
  readonly tiers: Tiers;
  /** Since when the URL is recorded as failing, ms since the epoch; null: it is not. */
  readonly failingSince: number | null;
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** Since this process took the delivery's record, by a monotonic clock. */
  readonly inHandMs: number;
  /** ms since the epoch. */
  readonly now: number;
  readonly random: () => number;
}

/** Made durable before the log entry. */
type Kept = RetryWait | Letter;

interface RetryWait extends Wait {
  readonly kind: 'retry';
  /** Null: it was attempted, or deferred for a reason of ours. */
  readonly deferral: DeferralReason | null;
}

/**
 * Why a delivery waits in a tier without an attempt. It is due at `due + moreMs`. turn: others wait for its endpoint, and by
 * the endpoint's own rate its turn is then. pause: its endpoint asked for a pause until then. outage: its endpoint takes nothing.
 */
type DeferralReason = 'turn' | 'pause' | 'outage';

interface Letter {
  readonly kind: 'letter';
  readonly reason: EndReason;
  readonly detail: string;
}

export interface NextStep {
  /** As it is stored and reported. */
  readonly delivery: Delivery;
  readonly outcome: Outcome;
  readonly attempt: LoggedAttempt | null;
  readonly kept: Kept | null;
  readonly endedBy?: typeof REMOVAL;
  /** False if the log already says so: the delivery was deferred again for the same reason. */
  readonly isTold: boolean;
}

export function nextStep(delivery: Delivery, result: StepResult, time: StepTime): NextStep {
  switch (result.kind) {
    case 'delivered':
      return ended(counted(delivery), 'delivered', result.attempt, null);
    case 'failed':
      return afterFailure(counted(delivery), result, time);
    case 'switched-off':
      return switchedOff(counted(delivery), result.attempt, result.by, 'the endpoint answered 410 Gone');
    case 'deferred':
      return defer(delivery, result, time);
    case 'unsent':
      return unsent(delivery, result.to);
    default:
      return result satisfies never;
  }
}

function counted(delivery: Delivery): Delivery {
  return { ...delivery, ...NOT_DEFERRED, attempts: delivery.attempts + 1, trigger: 'retry', actor: null };
}

function afterFailure(delivery: Delivery, { attempt, retryAfterMs, isFailing }: Failed, time: StepTime): NextStep {
  const { schedule, tiers, random } = time;
  const isThrottled = isRefusedOnPurpose({ status: attempt.status, retryAfterMs });
  const delay = schedule[delivery.step];
  // A throttled last attempt is repeated, even at a URL that was failing: it works again, and asks for less.
  const isFree = isThrottled && (!isFailing || !delay) && delivery.refused < MAX_FREE_THROTTLES;
  if ((!delay && !isFree) || leftMs(delivery, time) <= 0) return buried(delivery, attempt, 'exhausted', whyOf(attempt));
  const askedMs = Math.min(retryAfterMs ?? 0, longestDelayMs(schedule));
  const ownMs = isFree || !delay ? THROTTLED_MS : jittered(delay, random);
  const step = delivery.step + (isFree ? 0 : 1);
  const waitingFor: WaitingFor = isFree ? 'endpoint-paused' : 'schedule';
  const next = { ...delivery, step, refused: isThrottled ? delivery.refused + 1 : 0, waitingFor };
  const ms = boundedMs(next, Math.max(ownMs, askedMs), time);
  const until = waitFor([...tiers.retry, ...tiers.deferred], ms, time.now);
  return waits(next, attempt, { kind: 'retry', ...until, deferral: null }, time);
}

/**
 * Past its lifetime, a delivery is exhausted, as here, if it gets no slot within a few seconds. Neither a shutdown nor the queue of
 * a URL that accepts deliveries exhausts one that was never sent: it goes first in that queue, and there it had no room.
 */
function defer(delivery: Delivery, deferral: Deferral, time: StepTime): NextStep {
  const { why } = deferral;
  const isOver = leftMs(delivery, time) <= 0;
  const waitsForFirst = why === 'queue' && delivery.attempts === 0;
  if (isOver && why !== 'stopping' && !waitsForFirst)
    return buried(delivery, null, 'exhausted', `its time limit passed (${why})`);
  const { tiers } = time;
  const waitingFor = WAITS_FOR[why];
  const deferredFrom = awayFrom(delivery, why, time);
  const next = { ...delivery, deferrals: delivery.deferrals + 1, deferredFrom, waitingFor };
  const wantedMs = deferralMs(next, deferral, time);
  const ms = isOver && waitsForFirst ? wantedMs : boundedMs(next, wantedMs, time);
  const shift = gridShift(delivery);
  const until = waitOnGrid(tiers.deferred, ms, { now: time.now, shift, until: gridOf(deferral) });
  const step = waits(next, null, { kind: 'retry', ...until, deferral: DEFERRED_FOR[why] }, time);
  return { ...step, isTold: delivery.waitingFor !== waitingFor };
}

const gridOf = ({ pausedMs, turnMs }: Deferral) => (pausedMs > 0 ? 'pause' : turnMs > 0 ? 'turn' : 'any');

/** Accounts' deliveries do not all return at the same moment: multiples of the golden ratio are spread evenly. */
const gridShift = ({ accountId }: Delivery) => Math.abs(accountId * 0.618_033_988_75) % 1;

const WAITS_FOR: Readonly<Record<DeferReason, WaitingFor>> = {
  queue: 'queue',
  stopping: 'queue',
  'not-prepared': 'queue',
  'endpoint-failing': 'endpoint-failing',
  'endpoint-paused': 'endpoint-paused',
};
const DEFERRED_FOR: Readonly<Record<DeferReason, DeferralReason | null>> = {
  queue: 'turn',
  'endpoint-paused': 'pause',
  'endpoint-failing': 'outage',
  stopping: null,
  'not-prepared': null,
};

/** A URL with a queue takes deliveries: it is not away. */
function awayFrom({ deferredFrom, usedMs }: Delivery, why: DeferReason, { inHandMs }: StepTime): number | null {
  if (why === 'endpoint-failing') return deferredFrom ?? usedMs + inHandMs;
  return why === 'queue' ? null : deferredFrom;
}

/** Deliveries deferred because their URL asked for a pause return when the pause ends; those of a full queue, at their turn. */
function deferralMs(delivery: Delivery, { why, pausedMs, turnMs }: Deferral, time: StepTime): number {
  if (pausedMs > 0 || turnMs > 0) return Math.ceil(Math.max(pausedMs, turnMs));
  if (why !== 'endpoint-failing') return DEFERRALS[0].ms;
  const usedMs = delivery.usedMs + time.inHandMs;
  // By the clock only if the outage is recorded: a jump of the clock shows nothing about the URL.
  const outageMs =
    time.failingSince === null ? usedMs - (delivery.deferredFrom ?? usedMs) : time.now - time.failingSince;
  return deferralFor(outageMs).ms;
}

/** What is left of its lifetime. */
function leftMs({ usedMs }: Delivery, { schedule, timeoutMs, inHandMs }: StepTime): number {
  return lifetimeMs(schedule, timeoutMs) - (usedMs + inHandMs);
}

function unsent(delivery: Delivery, to: Unsent): NextStep {
  switch (to.kind) {
    case 'inactive':
      return switchedOff(delivery, null, to.by, 'the service had deactivated the webhook');
    case 'other-history':
      return buried(delivery, null, 'other-history', ofAnother(delivery, to.addedBy));
    case 'account-unreadable':
      return buried(delivery, null, 'account-unreadable', to.why);
    default:
      return to satisfies never;
  }
}

/** If its end is earlier, its last attempt is made then. */
function boundedMs(delivery: Delivery, ms: number, time: StepTime): number {
  return Math.min(ms, Math.ceil(Math.max(0, leftMs(delivery, time))));
}

function waits(delivery: Delivery, attempt: LoggedAttempt | null, kept: RetryWait, time: StepTime): NextStep {
  const usedMs = Math.ceil(delivery.usedMs + time.inHandMs + kept.due + kept.moreMs - time.now);
  return ended({ ...delivery, usedMs }, 'retrying', attempt, kept);
}

function buried(delivery: Delivery, attempt: LoggedAttempt | null, reason: Letter['reason'], detail: string): NextStep {
  return ended(delivery, 'exhausted', attempt, { kind: 'letter', reason, detail });
}

function switchedOff(delivery: Delivery, attempt: LoggedAttempt | null, by: OffBy, detail: string): NextStep {
  if (by === 'service') return buried(delivery, attempt, 'deactivated', detail);
  const step = ended(delivery, 'cancelled', attempt, null);
  return by === 'removal' ? { ...step, endedBy: REMOVAL } : step;
}

function ended(delivery: Delivery, outcome: Outcome, attempt: LoggedAttempt | null, kept: Kept | null): NextStep {
  return { delivery, outcome, attempt, kept, isTold: true };
}

/** For readers: the status, or the failure with its cause. */
export function whyOf({ error, reason, status }: LoggedAttempt): string {
  if (error === null) return `status ${status}`;
  return reason ? `${error} (${reason})` : error;
}

function ofAnother({ webhookId, webhookEvent }: Delivery, addedBy: string | null): string {
  if (addedBy === null) return `this history never had webhook ${webhookId}`;
  return `event ${addedBy} added webhook ${webhookId}; this delivery is for the one that event ${webhookEvent} added`;
}
