/**
 * Sends a delivery again, as its account asked: one attempt more for a delivery that has ended, or the next attempt now for
 * one that waits. The payment is read from its topic; the attempt is made by a dispatcher, from the tier for it.
 */
import { type Broker, RecordRefused } from '../../ports/broker.js';
import type { DeliveryDetail } from '../../ports/deliveries-view.js';
import type { EndBefore } from '../../ports/delivery-order.js';
import { MOST_RESENDS, type SendAgain } from '../../ports/send-again.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { AccountWebhooks } from '../../webhooks/state.js';
import { type Delivery, newDelivery, toRetryRecord, withoutExtras } from '../delivery.js';
import { asRefusal } from '../durable-publish.js';
import { logEntry } from '../log/delivery-log.js';
import { type DeliveryLogEntry, toLogRecord } from '../log/log-record.js';
import { parsePaymentEvent } from '../payment/payment-event.js';
import { recordAt } from '../record-place.js';
import { AGAIN, type Delay } from '../retry/retry-schedule.js';
import type { Topics } from '../topics.js';
import { toMark } from './superseded.js';

export interface SendAgainParts {
  readonly broker: Pick<Broker, 'publish' | 'read'>;
  readonly topics: Pick<Topics, 'tier' | 'superseded' | 'deliveries'>;
  readonly accounts: Pick<Accounts, 'webhooks' | 'webhooksNow'>;
  readonly schedule: readonly [Delay, ...Delay[]];
  readonly now: () => number;
}

export function createSendAgain(parts: SendAgainParts): SendAgain {
  const { accounts, schedule, now } = parts;

  return async (known, asked) => {
    const { accountId, attempts } = known;
    if (attempts.length > schedule.length + MOST_RESENDS) return 'too-often';
    const isActive =
      hasActive(await accounts.webhooks(accountId), known) || hasActive(await accounts.webhooksNow(accountId), known);
    if (!isActive) return 'inactive';
    const begun = await published(parts, known);
    if (!begun) return 'gone';
    const waits = known.outcome === 'retrying';
    const delivery = {
      ...begun,
      attempts: attempts.length,
      // An attempt that is under way has the turn in between.
      turn: known.turn + 2,
      step: waits ? (known.step ?? 0) : schedule.length,
      // This attempt's delay is not the service's.
      publishedAt: null,
      ...asked,
    };
    // One that was delivered stays so while a resend of it waits.
    const mayWait = waits || known.sentAgain;
    const supersededTurn = mayWait ? known.turn + 1 : null;
    return putBack(parts, delivery, { tier: AGAIN, due: now(), supersededTurn, before: endBefore(known) }).then(
      () => 'put-back',
      (error: unknown) => asRefusal(error) && 'refused',
    );
  };
}

/** Undefined: it had not ended. */
function endBefore({ outcome, held, turn, before }: DeliveryDetail): EndBefore | undefined {
  if (before !== null) return before;
  return outcome === 'retrying' ? undefined : { outcome, held: held || undefined, turn };
}

function hasActive(account: AccountWebhooks | undefined, { webhookId, webhookEvent }: DeliveryDetail): boolean {
  const webhook = account?.webhooks.find(({ id }) => id === webhookId);
  return webhook?.addedBy === webhookEvent && webhook.isActive;
}

/** As when its payment was routed; null if the payment's topic has lost it, or was recreated. */
async function published({ broker }: Pick<SendAgainParts, 'broker'>, known: DeliveryDetail): Promise<Delivery | null> {
  const { id, payment, webhookId, webhookEvent } = known;
  const record = await recordAt(broker, payment);
  if (!record) return null;
  const parsed = parsePaymentEvent(record);
  const delivery = parsed.ok ? newDelivery(parsed.event, { id: webhookId, addedBy: webhookEvent }, record) : null;
  return delivery?.id === id ? delivery : null;
}

/**
 * Ends a waiting delivery, or cancels the attempt that was asked for after its end: then the end before holds again. The log
 * entry first: a crash before the mark makes one attempt more. An attempt that is under way is not interrupted, and what it
 * delivers counts as delivered. Repeating it is safe.
 * @throws BrokerUnavailable
 */
export async function cancelDelivery(
  parts: Pick<SendAgainParts, 'broker' | 'topics'>,
  known: DeliveryDetail,
): Promise<void> {
  const { broker, topics } = parts;
  const { id, payment, outcome } = known;
  // Of a delivery that was cancelled already only the mark may be missing.
  const isLogged = outcome === 'cancelled' || outcome === 'exhausted';
  const turn = isLogged ? known.turn : known.turn + 1;
  if (!isLogged) {
    const entry = await cancelled(parts, known, turn);
    await broker.publish(topics.deliveries, [toLogRecord({ deliveries: [entry] })]);
  }
  await broker.publish(topics.superseded, [toMark({ id, payment, turn })]);
}

async function cancelled(parts: Pick<SendAgainParts, 'broker'>, known: DeliveryDetail, turn: number) {
  const { id, eventId, eventType, accountId, webhookId, webhookEvent, before } = known;
  // Only the payment itself has the source, which is part of a CloudEvent's identity.
  const eventSource = (await published(parts, known))?.cloudEvent?.source;
  const about = { id, eventId, eventSource, eventType, accountId, webhookId, webhookEvent };
  // Delivered it is by its earlier entry, which outranks this one.
  const { outcome, held } = before?.outcome === 'exhausted' ? before : ({ outcome: 'cancelled' } as const);
  const end = { outcome, held, turn, attempt: null, nextAttemptAt: null, before: before ?? undefined };
  return { ...about, payment: known.payment ?? undefined, ...end } satisfies DeliveryLogEntry;
}

interface PutBack {
  readonly tier: Delay;
  /** ms since the epoch */
  readonly due: number;
  /** The delivery's waiting records up to this turn must not go out; null: none waits. */
  readonly supersededTurn: number | null;
  readonly before?: EndBefore | undefined;
}

/**
 * Puts a delivery back into a tier. The record first, then the mark over the one that waits, then the log entry: a crash in
 * between may send the delivery twice, and loses nothing. Until the entry is durable, repeating it has the same turn, so that
 * a dispatcher takes both records as one step (retry/steps-once.ts).
 * @throws BrokerUnavailable; RecordRefused: nothing was put back
 */
export async function putBack(
  { broker, topics }: Pick<SendAgainParts, 'topics'> & { readonly broker: Pick<Broker, 'publish'> },
  delivery: Delivery,
  { tier, due, supersededTurn, before }: PutBack,
): Promise<void> {
  const topic = topics.tier(tier);
  await broker.publish(topic, [toRetryRecord(delivery, due)]).catch((error: unknown) => {
    if (!(error instanceof RecordRefused)) throw error;
    return broker.publish(topic, [toRetryRecord(withoutExtras(delivery), due)]);
  });
  if (supersededTurn !== null) {
    await broker.publish(topics.superseded, [toMark({ ...delivery, turn: supersededTurn })]);
  }
  const entry = { ...logEntry(delivery, 'retrying', null, due), before };
  await broker.publish(topics.deliveries, [toLogRecord({ deliveries: [entry] })]);
}
