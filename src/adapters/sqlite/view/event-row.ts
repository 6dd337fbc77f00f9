/** A payment event as a row of the view, and how its `routed` entries and deliveries form it. */
import type { Arrived, ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import { type DeliveryRow, STATE } from './delivery-row.js';
import { escaped, offsetIn, writer } from './schema.js';

/**
 * As stored. atOnce: all arrived, each at once (STATE in delivery-row.ts). Those before it are the ones that people look for.
 * nowherePending, partPending: the same as without `Pending`, but a webhook has no delivery yet; so these events can be found.
 */
export const ARRIVAL = {
  nobody: 0,
  nowhere: 1,
  part: 2,
  all: 3,
  atOnce: 4,
  nowherePending: 5,
  partPending: 6,
} as const;

const ARRIVED_OF: readonly Arrived[] = ['nobody', 'nowhere', 'part', 'all', 'all', 'nowhere', 'part'];

/** The first `routed` entry. */
const ROUTED = ['routedAt', 'partition', 'offset', 'idx'] as const;

/** row null: it is new. Entries change it in place: a copy for each took 1 us a delivery. */
export type EventRow = Record<'accountId' | 'firstAt' | 'paymentOffset' | 'toldAt' | 'arrived', number> &
  Record<'payment' | 'eventId' | 'eventType' | 'webhooks', string> &
  Record<'eventSource' | 'amount' | 'reference', string | null> &
  Record<'row' | (typeof ROUTED)[number], number | null>;

export const putEvent = writer(
  'events',
  ['accountId', 'firstAt', 'paymentOffset', 'payment', 'eventId', 'eventType', 'eventSource'],
  ['amount', 'reference', 'webhooks', 'toldAt', 'arrived', ...ROUTED],
);

const UNROUTED = { amount: null, reference: null, routedAt: null, partition: null, offset: null, idx: null };

/** The event of which only this is known. */
export function eventRow(entry: ViewEntry | ViewRouting): EventRow {
  const { accountId, firstAt, payment, eventType } = entry;
  const [eventId, eventSource] = [escaped(entry.eventId), escaped(entry.eventSource ?? null)];
  const told = { toldAt: entry.place.timestamp, arrived: ARRIVAL.nobody, webhooks: '[]' };
  const paymentOffset = offsetIn(payment);
  return {
    row: null,
    accountId,
    firstAt,
    paymentOffset,
    payment,
    eventId,
    eventType,
    eventSource,
    ...told,
    ...UNROUTED,
  };
}

/**
 * Deliveries of an event, and webhooks that it was routed to: an account has at most 100 webhooks. Forged entries could give an
 * event any number, and each further entry reads all of them.
 */
export const MAX_OF_EVENT = 1_000;

/**
 * A record has one `routed` entry for each time that it was handed out: the webhooks of all of them count.
 * @param webhooks of the event so far; grows
 */
export function tell(event: EventRow, entry: ViewEntry | ViewRouting, webhooks: Set<number>): void {
  event.toldAt = Math.max(event.toldAt, entry.place.timestamp);
  if (entry.kind === 'delivery') return;
  for (const id of entry.webhooks) if (webhooks.size < MAX_OF_EVENT) webhooks.add(id);
  const { timestamp: routedAt, partition, offset } = entry.place;
  const routed = { routedAt, partition, offset, idx: entry.index };
  if (event.routedAt !== null && orderOf(routed) >= orderOf(event)) return;
  const { amount = null, reference = null } = entry;
  Object.assign(event, routed, { amount: escaped(amount), reference: escaped(reference) });
}

/** Any order would do: no reader of the feed passes an event's place before it was given the event. */
function orderOf(routed: Pick<EventRow, (typeof ROUTED)[number]>): string {
  return ROUTED.map((name) => routed[name]).join();
}

/** @param deliveries all of the event's */
export function arrivalOf(event: EventRow, deliveries: readonly DeliveryRow[]): number {
  const known = new Set(deliveries.map(({ webhookId }) => webhookId));
  const unknown = routedIn(event).filter((id) => !known.has(id));
  const total = deliveries.length + unknown.length;
  const delivered = deliveries.filter(({ state }) => state <= STATE.delivered).length;
  if (total === 0) return ARRIVAL.nobody;
  if (unknown.length > 0) return delivered === 0 ? ARRIVAL.nowherePending : ARRIVAL.partPending;
  if (delivered === 0) return ARRIVAL.nowhere;
  if (delivered < total) return ARRIVAL.part;
  return deliveries.every(({ state }) => state === STATE.atOnce) ? ARRIVAL.atOnce : ARRIVAL.all;
}

export function arrivedOf(arrival: number): Arrived {
  return ARRIVED_OF[arrival] as Arrived;
}

export function routedIn({ webhooks }: EventRow): readonly number[] {
  return JSON.parse(webhooks) as number[];
}
