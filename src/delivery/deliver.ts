/**
 * One step of a delivery: pass the gate, make one attempt, and make the consequence (next-step.ts) durable: the retry
 * record or dead letter first, then the log entry about it. So a delivery that the log calls waiting does wait,
 * whatever fails in between.
 */
import { heldBytes, type RecordHold } from '../ports/broker.js';
import type { Accounts } from '../read-model/accounts.js';
import type { WasRemoved } from '../read-model/removed-webhooks.js';
import type { Webhook } from '../webhooks/state.js';
import type { Requests } from './again/requests.js';
import type { AttemptResult } from './attempt/attempt.js';
import { inTraceOf, type SendParts, send, signalOf } from './attempt/send.js';
import type { Confirmation } from './confirmation.js';
import { deadLetterOf } from './dead-letters.js';
import { type Delivery, toRetryRecord } from './delivery.js';
import { tellBreaker, tellStep, tellSuperseded } from './delivery-telling.js';
import { type DurablePublishParts, publishUntilDurable } from './durable-publish.js';
import type { EndpointGate, Entered } from './isolation/endpoint-gate.js';
import type { EndpointHealth } from './isolation/endpoint-health.js';
import type { Waiting } from './isolation/gate-endpoints.js';
import { logEntry } from './log/log-entry.js';
import type { LogWriter } from './log/log-writer.js';
import { type NextStep, nextStep, type StepResult } from './next-step.js';
import { confirmedRecipientOf, recipientOf } from './recipient.js';
import type { Delay } from './retry/retry-schedule.js';
import { resultOf, resultOfRefusal, type StepResultParts } from './step-result.js';
import type { Topics } from './topics.js';

export interface DeliverParts extends StepResultParts, SendParts, DurablePublishParts {
  readonly accounts: Accounts;
  readonly wasRemoved: WasRemoved;
  readonly confirmation: Pick<Confirmation, 'confirmed'>;
  readonly requests: Pick<Requests, 'laterChain'>;
  readonly gate: Pick<EndpointGate, 'enter'>;
  readonly health: EndpointHealth;
  readonly log: Pick<LogWriter, 'add'>;
  readonly topics: Topics;
  readonly schedule: readonly Delay[];
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** ms of a monotonic clock. */
  readonly monotonicNow: () => number;
  readonly random: () => number;
}

/**
 * Fulfilled when the delivery has ended or its next attempt is durable. Rejected if the service abandons its work, or
 * if another consumer got the record before the delivery had a place: that consumer delivers. False: it was deferred, and no
 * attempt was made.
 */
export type Deliver = (delivery: Delivery, hold: RecordHold) => Promise<boolean>;

export function createDeliver(parts: DeliverParts): Deliver {
  const { accounts, gate, health } = parts;

  return async function deliver(delivery, hold) {
    const takenAt = parts.monotonicNow();
    for (;;) {
      if (endsNow(delivery)) return true;
      const isOver = await step(delivery, hold, takenAt);
      if (isOver !== null) return isOver;
      // A delivery ends without an attempt only on the event store's word; the read model may be behind.
      await parts.confirmation.confirmed();
      const to = await confirmedRecipientOf(delivery, accounts, parts.wasRemoved);
      await mustBeOwn(hold);
      if (to.kind !== 'active') return endsNow(delivery) || handleResult(delivery, { kind: 'unsent', to }, takenAt);
    }
  };

  /** Whether the record ends without an entry: a request has begun a later chain of the delivery. */
  function endsNow(delivery: Delivery): boolean {
    const later = parts.requests.laterChain(delivery);
    if (later !== null) tellSuperseded(parts, delivery, later);
    return later !== null;
  }

  /** Null if nothing was done, because the webhook is not active before or after the queue, or has another URL after it. */
  async function step(delivery: Delivery, hold: RecordHold, takenAt: number): Promise<boolean | null> {
    const before = recipientOf(delivery, accounts);
    if (before.kind !== 'active') return null;
    const { endpoint } = before.webhook;
    const entry = await gate.enter(delivery.accountId, endpoint, waitingOf(delivery));
    if (entry.kind === 'refused') {
      await mustBeOwn(hold);
      return endsNow(delivery) || handleResult(delivery, resultOfRefusal(entry), takenAt);
    }
    let over: Promise<void> | undefined;
    // A receiver that keeps its connection busy keeps its slot, but does not delay the result.
    const leave = () => {
      if (over) void over.then(entry.leave);
      else entry.leave();
    };
    try {
      await mustBeOwn(hold);
      // Not only before the queue: a request may have come meanwhile.
      if (endsNow(delivery)) return true;
      const to = recipientOf(delivery, accounts);
      if (to.kind !== 'active' || to.webhook.endpoint !== endpoint) return null;
      const attempted = await send(parts, delivery, to.webhook);
      const tell = () => tellEndpoint(delivery, to.webhook, attempted, entry);
      over = attempted?.over?.then(tell);
      if (!over) tell();
      const result = await resultOf(parts, delivery, to.webhook, attempted);
      return await handleResult(inTraceOf(delivery, attempted), result, takenAt);
    } finally {
      leave();
    }
  }

  function tellEndpoint(
    delivery: Delivery,
    { endpoint }: Webhook,
    attempted: AttemptResult | null,
    entry: Entered,
  ): void {
    tellBreaker(parts, delivery, entry.ended(signalOf(attempted)));
    if (attempted?.kind === 'delivered') health.succeeded({ delivery, endpoint });
    else if (attempted?.kind === 'retryable') health.failed({ delivery, endpoint, failure: attempted });
  }

  /** @returns whether its copies end */
  async function handleResult(delivery: Delivery, result: StepResult, takenAt: number): Promise<boolean> {
    const { schedule, timeoutMs, random } = parts;
    const inHandMs = parts.monotonicNow() - takenAt;
    const next = nextStep(delivery, result, { schedule, timeoutMs, inHandMs, now: parts.now(), random });
    tellStep(parts, delivery, result, next);
    await keep(parts, next);
    if (next.isTold) await log(parts, next);
    return next.outcome !== 'retrying' || next.delivery.attempts > delivery.attempts;
  }
}

function waitingOf({ id, payment, chain, record }: Delivery): Waiting {
  return { bytes: heldBytes(record), delivery: `${id} ${payment}`, chain };
}

/** @throws if another consumer has the record: an attempt from here would be a second one */
export async function mustBeOwn(hold: RecordHold): Promise<void> {
  if (!(await hold.isOwn())) throw new Error('another consumer now has the record');
}

async function keep(parts: DeliverParts, { delivery, kept }: NextStep): Promise<void> {
  if (kept === null) return;
  const { deadLetters, tier } = parts.topics;
  if (kept.kind === 'letter') await publishUntilDurable(parts, deadLetters, deadLetterOf(delivery, kept));
  else await publishUntilDurable(parts, tier(kept.tier), toRetryRecord(delivery, kept.due));
}

function log(parts: DeliverParts, { delivery, outcome, attempt, kept, endedBy }: NextStep): Promise<void> {
  const due = kept?.kind === 'retry' ? kept.due : null;
  const isHeld = attempt === null && kept?.kind === 'letter' && kept.reason === 'deactivated';
  const told = logEntry(delivery, outcome, attempt, due);
  return parts.log.add('deliveries', isHeld || endedBy ? { ...told, held: isHeld || undefined, endedBy } : told);
}
