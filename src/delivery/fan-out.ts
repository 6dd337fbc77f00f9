/**
 * Fan-out of a payment record: parse, route by the read model, one delivery per webhook. Deliveries to a webhook that the
 * service deactivated are held: next-step.ts makes them dead letters.
 */
import type { Span, Tracing } from '../observability/tracing.js';
import type { Broker, ReceivedRecord, RecordHandler, UnreadableBatch } from '../ports/broker.js';
import type { Routes } from '../read-model/accounts.js';
import type { Webhook } from '../webhooks/state.js';
import { notValid, type UnroutedReason, unreadableBatch, unrouted, withoutEvent } from './dead-letters.js';
import type { Deliver, DeliverParts } from './deliver.js';
import { newDelivery, traceOf } from './delivery.js';
import { asRefusal, publishLetter } from './durable-publish.js';
import type { RoutedEntry } from './log/log-record.js';
import { eventHeaders } from './payment/cloud-event-attributes.js';
import { headersProblem, type PaymentEvent, parsePaymentEvent } from './payment/payment-event.js';
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
    if (unreadable !== null) {
      return buryPayment(parts, record, event, { reason: 'account-unreadable', detail: unreadable });
    }
    const confirmed = parts.accounts.routes(accountId, eventType);
    const revealed = confirmed.webhooks.filter(({ id }) => !routed.webhooks.some((webhook) => webhook.id === id));
    const entry = {
      ...{ accountId, eventId, eventSource: cloudEvent?.source, eventType, payment: paymentText(placeOf(record)) },
      ...{ routed: routed.revision, confirmed: confirmed.revision },
      webhooks: [...routed.webhooks, ...revealed].map(({ id }) => id),
    };
    await allOf([...revealed.map((webhook) => send(event, webhook)), logRouted(record, event, entry)]);
  }

  async function logRouted(record: ReceivedRecord, event: PaymentEvent, routed: RoutedEntry): Promise<void> {
    const refusal = await parts.log.add('routed', routed).then(() => null, asRefusal);
    if (refusal) await buryPayment(parts, record, event, { reason: 'record-refused', detail: refusal.message });
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

/**
 * account-unreadable: the account's webhooks are unknown, and a replay publishes the payment again once they can be read.
 * record-refused: the deliveries topic refused the entry about the payment's routing, and the letter replaces that entry.
 */
async function buryPayment(
  parts: DeliverParts,
  record: ReceivedRecord,
  event: PaymentEvent,
  why: UnroutedReason,
): Promise<void> {
  const { topic, partition, offset } = record;
  const { id: eventId, accountId } = event;
  // The account's fault was logged once already; there may be any number of payments.
  const level = why.reason === 'account-unreadable' ? 'debug' : 'error';
  parts.logger[level]({ topic, partition, offset, accountId, eventId, ...why }, 'a payment goes to the dead letters');
  parts.metrics.deadLetter(why.reason);
  // Without the key and the headers outside the event itself, which may exceed the topic's limit.
  const bare = { ...record, key: null, headers: [...eventHeaders(record)] };
  const forms = [record, bare].map((form) => () => unrouted(form, event, why));
  await publishLetter(parts, [...forms, () => withoutEvent(unrouted(bare, event, why))]);
}

/** Moves the record to the dead letters. Headers beyond their limits stay behind: encoding them would take too long. */
export async function bury(parts: DeliverParts, record: ReceivedRecord, reason: string): Promise<void> {
  const { topic, partition, offset } = record;
  parts.logger.warn({ topic, partition, offset, reason }, 'a record is not valid and becomes a dead letter');
  const letter = notValid(headersProblem(record.headers) === null ? record : { ...record, headers: [] }, reason);
  parts.metrics.deadLetter('not-valid');
  // Our own headers say where the original bytes are.
  const bare = () => notValid({ ...record, key: null, value: null, headers: [] }, reason);
  await publishLetter(parts, [() => letter, () => ({ ...letter, value: null }), bare]);
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
  await publishLetter(parts, [() => unreadableBatch(batch, before?.timestamp ?? null)]);
}
