/**
 * Decides the consequence of one step of a delivery. Pure: next-step.test.ts has the whole table of results, schedule
 * and time.
 *
 *   attempted -> delivered                                  (2xx)
 *             -> retrying: waits in a tier                  (any other response or none, while a delay is left; or a
 *                                                            refusal on purpose, of a URL that took something lately)
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
import { isRefusedOnPurpose } from './attempt/classification.js';
import type { EndReason } from './dead-letters.js';
import type { Delivery } from './delivery.js';
import { NOT_DEFERRED } from './delivery-progress.js';
import type { LoggedAttempt } from './log/log-record.js';
import type { OffBy, Unsent } from './recipient.js';
import type { Waited } from './retry/deferral-pace.js';
import {
  DEFERRALS,
  type Delay,
  deferralFor,
  jittered,
  lifetimeMs,
  longestDelayMs,
  type Tier,
} from './retry/retry-schedule.js';
import { type Wait, waitFor } from './retry/waiting.js';
import type { Tiers } from './topics.js';

/** Of refusals in a row that use no step. */
const MOST_REFUSED = 20;
/** After a refusal that names no time, ms. */
const REFUSED_MS = 1_000;

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
  /** Its URL answered 2xx to something within the last minute. */
  readonly hasSucceededLately: boolean;
}

interface Deferral {
  readonly kind: 'deferred';
  readonly why: DeferReason;
  /** How long the URL's pause yet lasts; 0: none. */
  readonly pausedMs: number;
}

/** How a URL fares that does not take a delivery. */
export interface Away {
  /** ms since the epoch; null: it is not noted as failing. */
  readonly since: number | null;
  /** Counts a deferral: DeferralPace.longer. */
  readonly longer: (waited: Waited) => Delay | null;
}

export interface StepTime {
  readonly schedule: readonly Delay[];
  readonly tiers: Tiers;
  readonly away: Away;
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** Since this process took the delivery's record, by a monotonic clock. */
  readonly inHandMs: number;
  /** ms since the epoch. */
  readonly now: number;
  readonly random: () => number;
}

/** Made durable before the log entry. */
type Kept = ({ readonly kind: 'retry' } & Wait) | Letter;

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

function afterFailure(
  delivery: Delivery,
  { attempt, retryAfterMs, hasSucceededLately }: Failed,
  time: StepTime,
): NextStep {
  const { schedule, tiers, random } = time;
  const isRefusal = isRefusedOnPurpose({ status: attempt.status, retryAfterMs });
  const isFree = isRefusal && hasSucceededLately && delivery.refused < MOST_REFUSED;
  const delay = schedule[delivery.step];
  if ((!delay && !isFree) || leftMs(delivery, time) <= 0) return buried(delivery, attempt, 'exhausted', whyOf(attempt));
  const askedMs = Math.min(retryAfterMs ?? 0, longestDelayMs(schedule));
  const ownMs = isFree || !delay ? REFUSED_MS : jittered(delay, random);
  const step = delivery.step + (isFree ? 0 : 1);
  const waitingFor: WaitingFor = isFree ? 'endpoint-paused' : 'schedule';
  const next = { ...delivery, step, refused: isRefusal ? delivery.refused + 1 : 0, waitingFor };
  return wait(next, attempt, Math.max(ownMs, askedMs), [...tiers.retry, ...tiers.deferred], time);
}

/** After its lifetime a delivery takes a free slot, or is exhausted if there is none, as here. Our own stop ends nothing. */
function defer(delivery: Delivery, deferral: Deferral, time: StepTime): NextStep {
  const { why } = deferral;
  const isOver = leftMs(delivery, time) <= 0 && why !== 'stopping';
  if (isOver) return buried(delivery, null, 'exhausted', `its time limit passed (${why})`);
  const { tiers } = time;
  const waitingFor = WAITS_FOR[why];
  const deferredFrom = awayFrom(delivery, why, time);
  const deferredMs = deferralMs({ ...delivery, deferredFrom }, deferral, time);
  const next = { ...delivery, deferrals: delivery.deferrals + 1, deferredFrom, deferredMs, waitingFor };
  const step = wait(next, null, deferredMs, [...tiers.deferred, ...tiers.retry], time);
  return { ...step, isTold: delivery.waitingFor !== waitingFor };
}

const WAITS_FOR: Readonly<Record<DeferReason, WaitingFor>> = {
  queue: 'queue',
  stopping: 'queue',
  'not-prepared': 'queue',
  'endpoint-failing': 'endpoint-failing',
  'endpoint-paused': 'endpoint-paused',
};
const OUR_FAULTS: ReadonlySet<DeferReason> = new Set<DeferReason>(['stopping', 'not-prepared']);

/** A URL with a queue takes deliveries: it is not away. */
function awayFrom({ deferredFrom, usedMs }: Delivery, why: DeferReason, { inHandMs }: StepTime): number | null {
  if (why === 'endpoint-failing') return deferredFrom ?? usedMs + inHandMs;
  return why === 'queue' ? null : deferredFrom;
}

/** What is deferred for a URL's pause is back at its end. */
function deferralMs(delivery: Delivery, { why, pausedMs }: Deferral, time: StepTime): number {
  const { away, now, random } = time;
  const { deferredFrom, deferredMs } = delivery;
  if (OUR_FAULTS.has(why)) return jittered(DEFERRALS[0], random);
  const usedMs = delivery.usedMs + time.inHandMs;
  // By the clock only where it was noted: a jump of it says nothing of the URL.
  const knownMs = away.since === null ? usedMs - (deferredFrom ?? usedMs) : now - away.since;
  const awayMs = why === 'endpoint-failing' ? knownMs : 0;
  const delay = deferralFor(awayMs);
  const longer = away.longer({ baseMs: pausedMs || delay.ms, awayMs, lastMs: deferredMs });
  return longer === null && pausedMs > 0 ? Math.ceil(pausedMs) : jittered(longer ?? delay, random);
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

/** Its end is earlier than what it would wait for: then its last attempt is made. */
function wait(
  delivery: Delivery,
  attempt: LoggedAttempt | null,
  wantedMs: number,
  tiers: readonly Tier[],
  time: StepTime,
): NextStep {
  const ms = Math.min(wantedMs, Math.ceil(Math.max(0, leftMs(delivery, time))));
  const waiting = { ...delivery, usedMs: Math.ceil(delivery.usedMs + time.inHandMs + ms) };
  return ended(waiting, 'retrying', attempt, { kind: 'retry', ...waitFor(tiers, ms, time.now) });
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
