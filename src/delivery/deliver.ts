/**
 * One step of a delivery: through the gate, one attempt, and what follows from it (next-step.ts) made durable: its retry
 * record or dead letter first, and then the entry that tells of it. So what the log says to wait does wait, whatever fails
 * in between.
 */
import type { Tracing } from '../observability/tracing.js';
import type { Broker, RecordHold } from '../ports/broker.js';
import type { Accounts } from '../read-model/accounts.js';
import type { WasRemoved } from '../read-model/removed-webhooks.js';
import type { Webhook } from '../webhooks/state.js';
import type { Attempt, AttemptResult } from './attempt.js';
import type { EndpointSignal } from './circuit-breaker.js';
import { contentOf } from './cloud-event-attributes.js';
import type { OpenConfiguration } from './configuration.js';
import type { Confirmation } from './confirmation.js';
import type { Delivery } from './delivery.js';
import { aboutDelivery, tellBreaker, tellStep } from './delivery-telling.js';
import type { EndpointGate, Refused } from './endpoint-gate.js';
import type { EndpointHealth } from './endpoint-health.js';
import { keepStep } from './keep-step.js';
import { nextStep, type StepResult } from './next-step.js';
import { confirmedRecipientOf, recipientOf } from './recipient.js';
import type { Delay } from './retry-schedule.js';
import { resultOf, type StepResultParts } from './step-result.js';
import type { Topics } from './topics.js';

export interface DeliverParts extends StepResultParts {
  readonly broker: Broker;
  readonly accounts: Accounts;
  readonly wasRemoved: WasRemoved;
  readonly topics: Topics;
  readonly schedule: readonly Delay[];
  /** Of one attempt. */
  readonly timeoutMs: number;
  readonly configuration: OpenConfiguration;
  readonly gate: EndpointGate;
  readonly health: EndpointHealth;
  readonly confirmation: Pick<Confirmation, 'confirmed'>;
  readonly attempt: Attempt;
  readonly tracing: Pick<Tracing, 'fanOut'>;
  readonly random: () => number;
  /** Aborted when attempts under way have to end. */
  readonly interrupt: AbortSignal;
  /** Aborted when not even what follows from them can be waited for. */
  readonly abandon: AbortSignal;
}

/**
 * Fulfilled when the delivery has ended or its next attempt is durable. Rejected where the service is abandoned, and where
 * the record became another consumer's before the delivery had a place: that consumer delivers.
 */
export type Deliver = (delivery: Delivery, hold: RecordHold) => Promise<void>;

export function createDeliver(parts: DeliverParts): Deliver {
  const { accounts, gate, health } = parts;

  return async function deliver(delivery, hold) {
    const takenAt = parts.now();
    while (!(await isStepped(delivery, hold, takenAt))) {
      // An end without an attempt is one only where the event store says so, and not a read model that is behind.
      await parts.confirmation.confirmed();
      const to = await confirmedRecipientOf(delivery, accounts, parts.wasRemoved);
      if (to.kind !== 'active') return follow(delivery, { kind: 'unsent', to }, takenAt);
    }
  };

  /** False where nothing was done: its webhook is not active, before the line or behind it. */
  async function isStepped(delivery: Delivery, hold: RecordHold, takenAt: number): Promise<boolean> {
    const before = recipientOf(delivery, accounts);
    if (before.kind !== 'active') return false;
    const bytes = delivery.record.value?.length ?? 0;
    const entry = await gate.enter(delivery.accountId, before.webhook.endpoint, bytes);
    if (entry.kind === 'refused') {
      mustBeOwn(hold);
      await follow(delivery, refused(entry), takenAt);
      return true;
    }
    let signal: EndpointSignal = 'unknown';
    try {
      mustBeOwn(hold);
      const to = recipientOf(delivery, accounts);
      if (to.kind !== 'active') return false;
      signal = await attemptOnce(delivery, to.webhook, takenAt);
      return true;
    } finally {
      tellBreaker(parts, delivery, entry.leave(signal));
    }
  }

  async function attemptOnce(delivery: Delivery, webhook: Webhook, takenAt: number): Promise<EndpointSignal> {
    const attempted = await send(parts, delivery, webhook);
    const signal = signalOf(attempted);
    if (signal !== 'unknown') health[signal]({ delivery, endpoint: webhook.endpoint });
    await follow(inTraceOf(delivery, attempted), await resultOf(parts, delivery, webhook, attempted), takenAt);
    return signal;
  }

  async function follow(delivery: Delivery, result: StepResult, takenAt: number): Promise<void> {
    const { schedule, timeoutMs, random } = parts;
    const step = nextStep(delivery, result, { schedule, timeoutMs, takenAt, now: parts.now(), random });
    tellStep(parts, delivery, result, step);
    await keepStep(parts, step);
  }
}

/** @throws where another consumer has the record: what is begun for it now would be sent twice */
function mustBeOwn(hold: RecordHold): void {
  if (!hold.isOwn()) throw new Error("the record is another consumer's now");
}

/** Null where it could not even be begun: the fault is ours (keys, store), and no attempt is counted. */
async function send(parts: DeliverParts, delivery: Delivery, webhook: Webhook): Promise<AttemptResult | null> {
  const { accountId, id, record, trace, lastSpan: previous, cloudEvent } = delivery;
  const { interrupt: signal } = parts;
  try {
    const headers = parts.configuration.headers(accountId, webhook);
    const secrets = await parts.configuration.secrets(accountId);
    const body = record.value ?? Buffer.alloc(0);
    const sent = { body, ...(cloudEvent && { content: contentOf(cloudEvent, record) }) };
    return await parts.attempt({ url: webhook.endpoint, id, ...sent, headers, secrets, signal, trace, previous });
  } catch (error) {
    const about = aboutDelivery(delivery);
    parts.logger.error({ err: error, ...about }, 'a delivery could not be prepared; it is tried again');
    return null;
  }
}

function inTraceOf(delivery: Delivery, attempted: AttemptResult | null): Delivery {
  if (!attempted || attempted.kind === 'interrupted') return delivery;
  const { span } = attempted;
  return { ...delivery, trace: delivery.trace ?? span ?? null, lastSpan: span?.spanId ?? null };
}

const PUT_OFF_WHY = { 'line-full': 'line-full', open: 'breaker-open', closed: 'stopping' } as const;

function refused({ why, forMs }: Refused): StepResult {
  return { kind: 'put-off', why: PUT_OFF_WHY[why], forMs };
}

/** 410 is neither: it is the webhook that is gone. */
function signalOf(attempted: AttemptResult | null): EndpointSignal {
  if (attempted?.kind === 'delivered') return 'succeeded';
  return attempted?.kind === 'retryable' ? 'failed' : 'unknown';
}
