/** A payment event as a row of the view, and how its `routed` entries and deliveries form it. */
import type { Arrived, ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import { type DeliveryRow, STATE } from './delivery-row.js';
import { escaped, type Row, upsert } from './schema.js';

/**
 * As stored. refused: all arrived, and a later attempt, the last one of a delivery, was not answered 2xx. Those before `all`
 * are the ones that people look for.
 */
export const ARRIVAL = { nobody: 0, nowhere: 1, part: 2, refused: 3, all: 4 } as const;

const ARRIVED_OF: readonly Arrived[] = ['nobody', 'nowhere', 'part', 'all', 'all'];
/** Begins the payment of an event whose payment has no known place. No place begins so. */
export const NO_PLACE = '?';

/** row null: it is new. webhooks: those of all of its `routed` entries, as JSON; null: none came yet. */
export type EventRow = Row<
  'accountId' | 'firstAt' | 'toldAt' | 'arrived',
  'payment' | 'eventId' | 'eventType',
  'eventSource' | 'amount' | 'reference' | 'webhooks',
  'row' | 'routedAt'
>;

const FIXED = ['accountId', 'firstAt', 'payment', 'eventId', 'eventType'] as const;
const CHANGING = ['eventSource', 'amount', 'reference', 'webhooks', 'routedAt', 'toldAt', 'arrived'] as const;
/** Columns in the order of PUT_EVENT. */
export const EVENT = ['row', ...FIXED, ...CHANGING] as const;
export const PUT_EVENT = upsert('events', ['row'], CHANGING, FIXED);

/** The event of which only this is known. */
export function eventRow(entry: ViewEntry | ViewRouting): EventRow {
  const { accountId, firstAt, eventId, eventSource, eventType, place } = entry;
  return {
    row: null,
    accountId,
    firstAt,
    payment: paymentOf(entry),
    eventId: escaped(eventId),
    eventType,
    eventSource: escaped(eventSource),
    amount: null,
    reference: null,
    webhooks: null,
    routedAt: null,
    toldAt: place.timestamp,
    arrived: ARRIVAL.nobody,
  };
}

/** A record has one `routed` entry for each time that it was handed out: the webhooks of all of them count. */
export function withRouting(
  known: EventRow,
  { webhooks, eventSource, amount, reference, place }: ViewRouting,
): EventRow {
  const before = routedIn(known);
  return {
    ...known,
    eventSource: known.eventSource ?? escaped(eventSource),
    amount: higher(known.amount, escaped(amount)),
    reference: higher(known.reference, escaped(reference)),
    webhooks: JSON.stringify([...new Set([...before, ...webhooks])].sort((one, other) => one - other)),
    routedAt: Math.min(known.routedAt ?? place.timestamp, place.timestamp),
    toldAt: Math.max(known.toldAt, place.timestamp),
  };
}

/** @param deliveries all of the event's */
export function arrivalOf(
  event: Pick<EventRow, 'webhooks'>,
  deliveries: readonly Pick<DeliveryRow, 'webhookId' | 'state'>[],
): number {
  const unknown = routedIn(event).filter((id) => deliveries.every(({ webhookId }) => webhookId !== id));
  const total = deliveries.length + unknown.length;
  const delivered = deliveries.filter(({ state }) => state <= STATE.refused).length;
  if (total === 0) return ARRIVAL.nobody;
  if (delivered === 0) return ARRIVAL.nowhere;
  if (delivered < total) return ARRIVAL.part;
  return deliveries.some(({ state }) => state === STATE.refused) ? ARRIVAL.refused : ARRIVAL.all;
}

/** @throws SyntaxError if the view is damaged */
export function arrivedOf(arrival: number): Arrived {
  const arrived = ARRIVED_OF[arrival];
  if (arrived === undefined) throw new SyntaxError(`no arrival of an event: ${arrival}`);
  return arrived;
}

export function routedIn({ webhooks }: Pick<EventRow, 'webhooks'>): readonly number[] {
  return webhooks === null ? [] : (JSON.parse(webhooks) as number[]);
}

export function paymentOf({ payment, eventId }: Pick<ViewEntry, 'payment' | 'eventId'>): string {
  return payment ?? NO_PLACE + escaped(eventId);
}

/** Of what two entries say differently, whichever came first. */
function higher(one: string | null, other: string | null): string | null {
  return one !== null && (other === null || one > other) ? one : other;
}
