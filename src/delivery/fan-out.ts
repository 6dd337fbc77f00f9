/**
 * Fan-out of a payment record: parse, route by the read model, one delivery per webhook. Deliveries to a webhook that the
 * service deactivated are held: next-step.ts makes them dead letters.
 */
import type { Span, Tracing } from '../observability/tracing.js';
import type { Broker, ReceivedRecord, RecordHandler, UnreadableBatch } from '../ports/broker.js';
import type { Routes } from '../read-model/accounts.js';
import type { Webhook } from '../webhooks/state.js';
import { notValid, unreadableBatch, unrouted } from './dead-letters.js';
import type { Deliver, DeliverParts } from './deliver.js';
import { newDelivery, traceOf } from './delivery.js';
import { publishUntilDurable } from './durable-publish.js';
import { type PaymentEvent, parsePaymentEvent } from './payment/payment-event.js';
import { paymentText, placeOf } from './record-place.js';

export interface FanOutParts extends DeliverParts {
  readonly tracing: Pick<Tracing, 'fanOut'>;
}

/**
 * Routes a payment at once by the current read model, and again after the event store's confirmation: a webhook that
 * was registered before but was not yet visible gets its delivery then. The record is done when each of its deliveries
 * has ended or is durable in a tier, and its `routed` entry is durable. If the record is redelivered, here or after a
 * planned rebalance, webhooks that are done with the record are left out.
 */
export function createFanOut(parts: FanOutParts, deliver: Deliver): RecordHandler {
  return (record, hold) => {
    const parsed = parsePaymentEvent(record);
    const trace = traceOf(record);
    const span = parts.tracing.fanOut(record, trace);
    const send = async (event: PaymentEvent, webhook: Webhook) => {
      if (hold.isPartDone(webhook.id)) return;
      await deliver(newDelivery(event, webhook, record, span?.context ?? trace), hold);
      hold.partDone(webhook.id);
    };
    const done = parsed.ok ? route(record, parsed.event, send) : bury(parts, record, parsed.reason);
    return span ? inSpan(span, done, parsed.ok ? null : 'not-valid') : done;
  };

  function route(record: ReceivedRecord, event: PaymentEvent, send: Send): Promise<void> {
    const routed = parts.accounts.routes(event.accountId, event.type);
    return allOf([...routed.webhooks.map((webhook) => send(event, webhook)), confirm(record, event, routed, send)]);
  }

  async function confirm(record: ReceivedRecord, event: PaymentEvent, routed: Routes, send: Send): Promise<void> {
    await parts.confirmation.confirmed();
    const { id: eventId, accountId, type: eventType, cloudEvent } = event;
    const unreadable = parts.accounts.unreadable(accountId);
    if (unreadable !== null) return buryPayment(parts, record, event, unreadable);
    const confirmed = parts.accounts.routes(accountId, eventType);
    const revealed = confirmed.webhooks.filter(({ id }) => !routed.webhooks.some((webhook) => webhook.id === id));
    const entry = {
      ...{ accountId, eventId, eventSource: cloudEvent?.source, eventType, payment: paymentText(placeOf(record)) },
      ...{ routed: routed.revision, confirmed: confirmed.revision },
      webhooks: [...routed.webhooks, ...revealed].map(({ id }) => id),
    };
    await allOf([...revealed.map((webhook) => send(event, webhook)), parts.log.add('routed', entry)]);
  }
}

type Send = (event: PaymentEvent, webhook: Webhook) => Promise<void>;

/** Settles after all promises have settled: a rejection causes a redelivery, which must not start midway. */
async function allOf(promises: readonly Promise<void>[]): Promise<void> {
  const settled = await Promise.allSettled(promises);
  const failed = settled.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

async function inSpan(span: Span, done: Promise<void>, outcome: string | null): Promise<void> {
  try {
    await done;
    span.end(outcome);
  } catch (error) {
    span.end('not-done');
    throw error;
  }
}

/** The account's webhooks are unknown: a replay publishes the payment again once they can be read. */
async function buryPayment(
  parts: DeliverParts,
  record: ReceivedRecord,
  event: PaymentEvent,
  detail: string,
): Promise<void> {
  const { topic, partition, offset } = record;
  const about = { topic, partition, offset, accountId: event.accountId, eventId: event.id, detail };
  // The account's fault was logged once already; there may be any number of payments.
  parts.logger.debug(about, 'a payment goes to the dead letters');
  parts.metrics.deadLetter('account-unreadable');
  await publishUntilDurable(parts, parts.topics.deadLetters, unrouted(record, event, detail));
}

/** Moves the record to the dead letters. */
export async function bury(parts: DeliverParts, record: ReceivedRecord, reason: string): Promise<void> {
  const { topic, partition, offset } = record;
  parts.logger.warn({ topic, partition, offset, reason }, 'a record is not valid and becomes a dead letter');
  parts.metrics.deadLetter('not-valid');
  await publishUntilDurable(parts, parts.topics.deadLetters, notValid(record, reason));
}

/** Its bytes stay in their topic, where a replay reads them again. */
export async function buryBatch(
  parts: DeliverParts & { readonly broker: Pick<Broker, 'read'> },
  batch: UnreadableBatch,
): Promise<void> {
  const { topic, partition, first } = batch;
  parts.logger.error({ ...batch, offset: first }, 'a batch cannot be read and becomes a dead letter');
  const before = first === 0 ? null : await parts.broker.read(topic, partition, first - 1);
  parts.metrics.deadLetter('unreadable-batch');
  await publishUntilDurable(parts, parts.topics.deadLetters, unreadableBatch(batch, before?.timestamp ?? null));
}
