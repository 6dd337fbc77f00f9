/**
 * One step of a delivery: through the gate, one attempt, and what follows from it made durable: its retry record or dead
 * letter first, and then the entry that tells of it. So what the log says to wait does wait, whatever fails in between.
 */
import type { Logger } from '../observability/logger.js';
import type { DeliveryMetrics, PutOffReason } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import type { Broker, NewRecord } from '../ports/broker.js';
import type { Accounts } from '../read-model/accounts.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import type { Webhook } from '../webhooks/state.js';
import type { Attempt, AttemptResult } from './attempt.js';
import type { BreakerChange, Fared } from './circuit-breaker.js';
import { contentOf } from './cloud-event-attributes.js';
import type { OpenConfiguration } from './configuration.js';
import { exhausted, ofOtherHistory } from './dead-letters.js';
import { correlationIdOf, type Delivery, sourceOf, toRetryRecord, withoutExtras } from './delivery.js';
import { type LoggedAttempt, logEntry, loggedAttempt } from './delivery-log.js';
import { publishUntilDurable, publishWhatFits } from './durable-publish.js';
import type { EndpointGate, Refused } from './endpoint-gate.js';
import type { EndpointHealth } from './endpoint-health.js';
import { type Recipient, recipientOf } from './recipient.js';
import { type Delay, dueAt, stepAfterFailure, tierOfPutOff } from './retry-schedule.js';
import type { Topics } from './topics.js';

export interface DeliverParts {
  readonly broker: Broker;
  readonly topics: Topics;
  readonly schedule: readonly Delay[];
  readonly accounts: Accounts;
  readonly configuration: OpenConfiguration;
  readonly gate: EndpointGate;
  readonly health: EndpointHealth;
  readonly attempt: Attempt;
  readonly handleCommand: HandleCommand;
  readonly logger: Logger;
  readonly metrics: DeliveryMetrics;
  readonly tracing: Pick<Tracing, 'fanOut'>;
  readonly now: () => number;
  readonly random: () => number;
  /** Aborted when attempts under way have to end. */
  readonly interrupt: AbortSignal;
  /** Aborted when not even what follows from them can be waited for. */
  readonly abandon: AbortSignal;
}

/** Fulfilled when the delivery has ended or its next attempt is durable; rejected only where the service is abandoned. */
export type Deliver = (delivery: Delivery) => Promise<void>;

export function createDeliver(parts: DeliverParts): Deliver {
  const { accounts, gate, health, metrics, topics } = parts;

  return async function deliver(delivery) {
    const to = recipientOf(delivery, accounts);
    if (to.kind !== 'active') return endUnsent(delivery, to);
    const bytes = delivery.record.value?.length ?? 0;
    const entry = await gate.enter(delivery.accountId, to.webhook.endpoint, bytes);
    if (entry.kind === 'refused') return putOff(delivery, PUT_OFF_WHY[entry.why], entry.forMs);
    let fared: Fared = 'unknown';
    try {
      fared = await attemptOnce(delivery);
    } finally {
      tell(delivery, entry.leave(fared));
    }
  };

  /** The webhook is looked up again: it may have changed in the line. */
  async function attemptOnce(delivery: Delivery): Promise<Fared> {
    const to = recipientOf(delivery, accounts);
    if (to.kind !== 'active') {
      await endUnsent(delivery, to);
      return 'unknown';
    }
    const { webhook } = to;
    const result = await send(delivery, webhook);
    const fared = faredBy(result);
    if (fared !== 'unknown') health[fared]({ delivery, endpoint: webhook.endpoint });
    await follow(delivery, webhook, result);
    return fared;
  }

  function endUnsent(delivery: Delivery, to: Exclude<Recipient, { kind: 'active' }>): Promise<void> {
    switch (to.kind) {
      case 'inactive':
        return end(delivery, 'cancelled', null);
      case 'other-history':
        parts.logger.warn(
          { ...about(delivery), webhookEvent: delivery.webhookEvent, addedBy: to.addedBy },
          'a delivery is for a webhook of another history',
        );
        return bury(delivery, 'other-history', null, (form) => ofOtherHistory(form, to.addedBy));
      default:
        return to satisfies never;
    }
  }

  async function follow(delivery: Delivery, webhook: Webhook, result: AttemptResult | null): Promise<void> {
    if (result === null) return putOff(delivery, 'not-prepared');
    if (result.kind === 'interrupted') return putOff(delivery, 'stopping');
    metrics.attempted(result);
    const { span } = result;
    const inTrace = { trace: delivery.trace ?? span ?? null, lastSpan: span?.spanId ?? null };
    const made = { ...delivery, attempts: delivery.attempts + 1, turn: delivery.turn + 1, putOff: 0, ...inTrace };
    const attempt = loggedAttempt(result, webhook.version);
    switch (result.kind) {
      case 'delivered':
        tookIt(delivery);
        return end(made, 'delivered', attempt);
      case 'gone':
        return gone(made, webhook, attempt);
      case 'retryable':
        return retry(made, attempt, result.retryAfterMs);
      default:
        return result satisfies never;
    }
  }

  function tookIt({ publishedAt, attempts, putOff }: Delivery): void {
    if (publishedAt !== null) metrics.delivered(parts.now() - publishedAt, attempts > 0 || putOff > 0);
  }

  /** Null where it could not even be begun: the fault is ours (keys, store), and no attempt is counted. */
  async function send(delivery: Delivery, webhook: Webhook): Promise<AttemptResult | null> {
    const { accountId, id, record, trace, lastSpan: previous, cloudEvent } = delivery;
    const { interrupt: signal } = parts;
    try {
      const headers = parts.configuration.headers(accountId, webhook);
      const secrets = await parts.configuration.secrets(accountId);
      const body = record.value ?? Buffer.alloc(0);
      const sent = { body, ...(cloudEvent && { content: contentOf(cloudEvent, record) }) };
      return await parts.attempt({ url: webhook.endpoint, id, ...sent, headers, secrets, signal, trace, previous });
    } catch (error) {
      parts.logger.error({ err: error, ...about(delivery) }, 'a delivery could not be prepared; it is tried again');
      return null;
    }
  }

  async function gone(delivery: Delivery, webhook: Webhook, attempt: LoggedAttempt): Promise<void> {
    const at = new Date(parts.now()).toISOString();
    const reason = 'the endpoint answered 410 Gone';
    const { id: webhookId, version } = webhook;
    const { id: requestId, trace } = delivery;
    const context = { actor: 'dispatcher', requestId, correlationId: correlationIdOf(delivery), trace };
    try {
      const command = { type: 'DeactivateWebhook', webhookId, version, reason, at } as const;
      const decision = await parts.handleCommand(delivery.accountId, command, context);
      const deactivated = decision.kind === 'accepted' && decision.events.length > 0;
      parts.logger.warn({ ...about(delivery), deactivated }, 'an endpoint answered 410 Gone');
    } catch (error) {
      parts.logger.error({ err: error, ...about(delivery) }, 'a webhook could not be deactivated; its next 410 will');
      return retry(delivery, attempt, null);
    }
    // Updated while the request was under way: it was the old configuration that is gone.
    const now = accounts.webhook(delivery.accountId, webhookId);
    if (now?.isActive && now.version > version) return retry(delivery, attempt, null);
    return end(delivery, 'cancelled', attempt);
  }

  async function retry(delivery: Delivery, attempt: LoggedAttempt, retryAfterMs: number | null): Promise<void> {
    const { logger, schedule } = parts;
    const step = stepAfterFailure(schedule, delivery.step, retryAfterMs);
    const tier = step === null ? undefined : schedule[step];
    const why = attempt.error ?? `status ${attempt.status}`;
    if (step === null || !tier) {
      logger.warn({ ...about(delivery), why }, 'a delivery is exhausted');
      return bury(delivery, 'exhausted', attempt, (form) => exhausted(form, why));
    }
    logger.warn({ ...about(delivery), why, next: tier.text }, 'an attempt failed');
    metrics.came('retrying', delivery.eventType);
    await wait({ ...delivery, step: step + 1 }, tier, attempt);
  }

  /** @param letter of the delivery as it came; where that is too large, without its extras */
  async function bury(
    delivery: Delivery,
    reason: 'exhausted' | 'other-history',
    attempt: LoggedAttempt | null,
    letter: (form: Delivery) => NewRecord,
  ): Promise<void> {
    metrics.deadLetter(reason);
    const forms = [() => letter(delivery), () => letter(withoutExtras(delivery))];
    await publishWhatFits(parts, topics.deadLetters, forms);
    await end(delivery, 'exhausted', attempt);
  }

  /** To a tier, with no attempt counted. The log tells of the first time in a row. @throws RangeError without a tier */
  async function putOff(delivery: Delivery, why: PutOffReason, forMs = 0): Promise<void> {
    const tier = tierOfPutOff(parts.schedule, delivery.putOff, forMs);
    if (!tier) throw new RangeError('the retry schedule has no delay');
    metrics.came('put-off', delivery.eventType);
    metrics.putOff(why);
    parts.logger.debug({ ...about(delivery), why, next: tier.text }, 'a delivery is put off');
    const due = dueAt(tier, parts.now(), parts.random);
    await keep({ ...delivery, putOff: delivery.putOff + 1 }, tier, due);
    if (delivery.putOff === 0) await durable(topics.deliveries, logEntry(delivery, 'retrying', null, due));
  }

  async function wait(delivery: Delivery, tier: Delay, attempt: LoggedAttempt): Promise<void> {
    const due = dueAt(tier, parts.now(), parts.random);
    await keep(delivery, tier, due);
    await durable(topics.deliveries, logEntry(delivery, 'retrying', attempt, due));
  }

  async function end(
    delivery: Delivery,
    outcome: 'delivered' | 'exhausted' | 'cancelled',
    attempt: LoggedAttempt | null,
  ): Promise<void> {
    metrics.came(outcome, delivery.eventType);
    if (parts.logger.isLevelEnabled('debug')) {
      const { status = null, error = null, durationMs = null } = attempt ?? {};
      parts.logger.debug({ ...about(delivery), outcome, status, error, durationMs }, 'a delivery ended');
    }
    await durable(topics.deliveries, logEntry(delivery, outcome, attempt, null));
  }

  function tell(delivery: Delivery, change: BreakerChange): void {
    if (change === 'opened') {
      parts.logger.warn(about(delivery), 'an endpoint failed ten times in a row: its deliveries are put off');
    } else if (change === 'closed') parts.logger.info(about(delivery), 'an endpoint takes deliveries again');
  }

  function keep(delivery: Delivery, tier: Delay, due: number): Promise<void> {
    const forms = [() => toRetryRecord(delivery, due), () => toRetryRecord(withoutExtras(delivery), due)];
    return publishWhatFits(parts, topics.tier(tier), forms);
  }

  function durable(topic: string, record: NewRecord): Promise<void> {
    return publishUntilDurable(parts, topic, record);
  }
}

const PUT_OFF_WHY = { 'line-full': 'line-full', open: 'breaker-open', closed: 'stopping' } as const satisfies Record<
  Refused['why'],
  PutOffReason
>;

/** 410 is neither: it is the webhook that is gone. */
function faredBy(result: AttemptResult | null): Fared {
  if (result?.kind === 'delivered') return 'succeeded';
  return result?.kind === 'retryable' ? 'failed' : 'unknown';
}

/** What every line about a delivery has. */
function about(delivery: Delivery) {
  const { id, accountId, webhookId, eventId, attempts, trace } = delivery;
  const common = { correlationId: correlationIdOf(delivery), traceId: trace?.traceId };
  return { deliveryId: id, accountId, webhookId, eventId, ...sourceOf(delivery), ...common, attempts };
}
