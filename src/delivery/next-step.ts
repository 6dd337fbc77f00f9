/**
 * Decides the consequence of one step of a delivery. Pure: next-step.test.ts has the whole table of results, schedule
 * and time.
 *
 *   attempted -> delivered                                  (2xx)
 *             -> retrying: waits in a tier                  (any other response or none, while a delay is left)
 *             -> exhausted: a dead letter                   (after the last delay)
 *             -> exhausted: a dead letter, `deactivated`    (410, and the service deactivated the webhook)
 *             -> cancelled                                  (410, and the account had deactivated or removed the webhook)
 *   parked    -> retrying: waits in a tier, nothing counted (no place at the endpoint, or our own stop or fault)
 *             -> exhausted: a dead letter                   (its lifetime is over, see `lifetimeMs`)
 *   unsent    -> cancelled                                  (the account deactivated or removed the webhook)
 *             -> exhausted: a dead letter, `deactivated`    (held: the service deactivated the webhook)
 *             -> exhausted: a dead letter, `other-history`  (the webhook's id belongs to another webhook, or to none)
 *             -> exhausted: a dead letter, `account-unreadable`  (an event of the account can't be read)
 */
import type { DeferReason } from '../observability/metrics.js';
import { type Outcome, REMOVAL } from '../ports/delivery-order.js';
import type { EndReason } from './dead-letters.js';
import type { Delivery } from './delivery.js';
import type { LoggedAttempt } from './log/log-record.js';
import type { OffBy, Unsent } from './recipient.js';
import { type Delay, dueAt, lifetimeMs, stepAfterFailure, tierOfParking } from './retry/retry-schedule.js';

export type StepResult =
  | { readonly kind: 'delivered'; readonly attempt: LoggedAttempt }
  | { readonly kind: 'failed'; readonly attempt: LoggedAttempt; readonly retryAfterMs: number | null }
  /** 410, and the webhook of the attempt is inactive now. */
  | { readonly kind: 'switched-off'; readonly by: OffBy; readonly attempt: LoggedAttempt }
  /** isSoon: the cause is not the endpoint, which accepts deliveries. */
  | { readonly kind: 'parked'; readonly why: DeferReason; readonly isSoon: boolean }
  | { readonly kind: 'unsent'; readonly to: Unsent };

export interface StepTime {
  readonly schedule: readonly Delay[];
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** Since this process took the delivery's record, by a monotonic clock. */
  readonly inHandMs: number;
  /** ms since the epoch. */
  readonly now: number;
  readonly random: () => number;
}

/** Made durable before the log entry. */
type Kept = { readonly kind: 'retry'; readonly tier: Delay; readonly due: number } | Letter;

export interface Letter {
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
  /** False if the log already says so: the delivery was parked again. */
  readonly isTold: boolean;
}

/** @throws RangeError if the delivery must wait and the schedule is empty */
export function nextStep(delivery: Delivery, result: StepResult, time: StepTime): NextStep {
  switch (result.kind) {
    case 'delivered':
      return ended(counted(delivery), 'delivered', result.attempt, null);
    case 'failed':
      return afterFailure(counted(delivery), result.attempt, result.retryAfterMs, time);
    case 'switched-off':
      return switchedOff(counted(delivery), result.attempt, result.by, 'the endpoint answered 410 Gone');
    case 'parked':
      return park(delivery, result.why, result.isSoon, time);
    case 'unsent':
      return unsent(delivery, result.to);
    default:
      return result satisfies never;
  }
}

function counted(delivery: Delivery): Delivery {
  const next = { attempts: delivery.attempts + 1, deferrals: 0, refusals: 0 };
  return { ...delivery, ...next, trigger: 'retry', actor: null };
}

function afterFailure(
  delivery: Delivery,
  attempt: LoggedAttempt,
  retryAfterMs: number | null,
  time: StepTime,
): NextStep {
  const step = stepAfterFailure(time.schedule, delivery.step, retryAfterMs);
  const tier = step === null ? undefined : time.schedule[step];
  if (step === null || !tier) return buried(delivery, attempt, 'exhausted', whyOf(attempt));
  return scheduleRetry({ ...delivery, step: step + 1 }, attempt, tier, dueAt(tier, time.now, time.random), time);
}

/** After its lifetime a delivery takes a free place, or is exhausted if there is none, as here. Our own stop ends nothing. */
function park(delivery: Delivery, why: DeferReason, isSoon: boolean, time: StepTime): NextStep {
  const left = lifetimeMs(time.schedule, time.timeoutMs) - (delivery.usedMs + time.inHandMs);
  if (left <= 0 && why !== 'stopping') return buried(delivery, null, 'exhausted', `its time limit passed (${why})`);
  const tier = tierOfParking(time.schedule, isSoon ? 0 : delivery.refusals);
  if (!tier) throw new RangeError('the retry schedule has no delay');
  const due = Math.min(dueAt(tier, time.now, time.random), Math.ceil(time.now + Math.max(0, left)));
  const refusals = delivery.refusals + (isSoon ? 0 : 1);
  const step = scheduleRetry({ ...delivery, deferrals: delivery.deferrals + 1, refusals }, null, tier, due, time);
  return { ...step, isTold: delivery.deferrals === 0 };
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

function scheduleRetry(
  delivery: Delivery,
  attempt: LoggedAttempt | null,
  tier: Delay,
  due: number,
  time: StepTime,
): NextStep {
  const waiting = { ...delivery, usedMs: Math.ceil(delivery.usedMs + time.inHandMs + due - time.now) };
  return ended(waiting, 'retrying', attempt, { kind: 'retry', tier, due });
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
