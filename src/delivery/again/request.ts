/**
 * A request to send a delivery again, or to cancel it: one record of webhooks.requests, with what is to be sent. Its offset
 * plus one is the number of the chain that it begins. So one write is durable, ordered, due now, and ends what waited: before
 * it nothing has happened.
 */
import { type Broker, isTime, type NewRecord, type ReceivedRecord } from '../../ports/broker.js';
import type { DeliveryLogEntry } from '../../ports/log-entry.js';
import type { Publications, SendAgainRequest } from '../../ports/send-again.js';
import { type Delivery, deliveryIn, deliveryRecord, fromRetryRecord } from '../delivery.js';
import { NOT_BEGUN, NOT_DEFERRED, progressHeader, progressIn } from '../delivery-progress.js';
import { logEntry } from '../log/log-record.js';
import type { Topics } from '../topics.js';

/** By an account, or by who replays a dead letter. */
export type Asked = SendAgainRequest | { readonly trigger: 'replay'; readonly actor: string };

/** A chain of its own: its lifetime begins anew, and its delay is not the service's. */
const ANEW = { ...NOT_DEFERRED, chain: 0, attempts: 0, refused: 0, usedMs: 0, waitingFor: null, publishedAt: null };

/** @param delivery with the payment, and the step that the chain begins with */
export function toRequest(delivery: Delivery, asked: Asked): NewRecord {
  const { trigger, actor } = asked;
  const recovery = trigger === 'recover' ? asked.recovery : undefined;
  return deliveryRecord({ ...delivery, ...ANEW, trigger, actor }, { recovery });
}

/** @returns the chain that it begins @throws BrokerUnavailable, RecordRefused */
export async function publishRequest(
  { broker, topics }: { readonly broker: Pick<Broker, 'publish'>; readonly topics: Pick<Topics, 'requests'> },
  request: NewRecord,
): Promise<number> {
  const [offset = 0] = await broker.publish(topics.requests, [request]);
  return chainOf({ offset });
}

/** It has no payment. @param publications of one event to one webhook, newest first */
export function toCancellation(publications: Publications, actor: string): NewRecord {
  const [{ id, accountId, webhookId, webhookEvent, eventId, eventSource, eventType }] = publications;
  const cancels = publications.flatMap(({ payment }) => payment ?? []);
  const cloudEvent = eventSource === null ? null : ({ source: eventSource, mode: 'structured' } as const);
  const about = { id, accountId, webhookId, webhookEvent, eventId, eventType, cloudEvent };
  const none = { payment: null, publishedAt: null, trace: null };
  return {
    key: Buffer.from(id),
    value: null,
    headers: [progressHeader({ ...NOT_BEGUN, ...about, ...none, actor, cancels })],
  };
}

/** A record of webhooks.requests, decoded. */
export interface Request {
  readonly delivery: Delivery;
  /** Of the payments' records: each is a delivery. Null: unknown. */
  readonly places: readonly (string | null)[];
  readonly cancels: boolean;
  readonly recovery: string | null;
  /** When it was published, ms since the epoch; NO_TIME if unknown. */
  readonly at: number;
}

/** Null for a foreign record. */
export function requestIn(record: ReceivedRecord): Request | null {
  const progress = progressIn(record);
  const delivery = progress?.cancels ? deliveryIn(record, progress) : fromRetryRecord(record, progress);
  if (!progress || !delivery) return null;
  const { cancels, recovery = null } = progress;
  const places = cancels ?? [delivery.payment];
  const chained = { ...delivery, chain: chainOf(record) };
  return { delivery: chained, places, cancels: cancels !== undefined, recovery, at: record.timestamp };
}

export function chainOf({ offset }: Pick<ReceivedRecord, 'offset'>): number {
  return offset + 1;
}

/** A request is the first entry of its chain, for each of its deliveries. */
export function entriesOfRequest(record: ReceivedRecord, request = requestIn(record)): DeliveryLogEntry[] {
  if (!request) return [];
  const { delivery, places, cancels, recovery, at } = request;
  const [outcome, next] = cancels ? (['cancelled', null] as const) : (['retrying', isTime(at) ? at : null] as const);
  return places.map((payment) => ({
    ...logEntry({ ...delivery, payment }, outcome, null, next),
    recovery: recovery ?? undefined,
  }));
}
