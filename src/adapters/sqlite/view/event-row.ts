/** A payment event as a row of the view, and how its `routed` entries and deliveries form it. */
import type { Arrived, ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import { STATE } from './delivery-row.js';
import type { Columns } from './schema.js';

/**
 * As stored. refused: all arrived, and a later attempt, the last one of a delivery, was not answered 2xx. Those before `all`
 * are the ones that people look for.
 */
export const ARRIVAL = { nobody: 0, nowhere: 1, part: 2, refused: 3, all: 4 } as const;

const ARRIVED_OF: readonly Arrived[] = ['nobody', 'nowhere', 'part', 'all', 'all'];
/** Begins the payment of an event whose payment has no known place. No place begins so. */
export const NO_PLACE = '?';

/**
 * event_id, event_source, amount and reference are JSON. webhooks: those of all of its `routed` entries, as JSON; null: none
 * came yet. last_at: publication of its first entry, or of its last `routed` entry.
 */
export type EventRow = Columns<
  'account_id' | 'first_at' | 'last_at',
  'payment' | 'event_id' | 'event_type',
  'event_source' | 'amount' | 'reference' | 'webhooks'
> & { readonly routed_at: number | null };

/** The event of which only this is known. */
export function eventRow(entry: ViewEntry | ViewRouting): EventRow {
  const { accountId, firstAt, eventId, eventSource, eventType, place } = entry;
  return {
    account_id: accountId,
    first_at: firstAt,
    payment: paymentOf(entry),
    event_id: JSON.stringify(eventId),
    event_source: jsonOf(eventSource),
    event_type: eventType,
    amount: null,
    reference: null,
    webhooks: null,
    routed_at: null,
    last_at: place.timestamp,
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
    event_source: known.event_source ?? jsonOf(eventSource),
    amount: higher(known.amount, jsonOf(amount)),
    reference: higher(known.reference, jsonOf(reference)),
    webhooks: JSON.stringify([...new Set([...before, ...webhooks])].sort((one, other) => one - other)),
    routed_at: Math.min(known.routed_at ?? place.timestamp, place.timestamp),
    last_at: Math.max(known.last_at, place.timestamp),
  };
}

interface Destination {
  readonly webhookId: number;
  readonly state: number;
}

/** @param deliveries all of the event's */
export function arrivalOf(event: Pick<EventRow, 'webhooks'>, deliveries: readonly Destination[]): number {
  const unknown = routedIn(event).filter((id) => deliveries.every(({ webhookId }) => webhookId !== id));
  const total = deliveries.length + unknown.length;
  const delivered = deliveries.filter(({ state }) => state === STATE.delivered || state === STATE.refused).length;
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
  return payment ?? NO_PLACE + JSON.stringify(eventId);
}

function jsonOf(text: string | null): string | null {
  return text === null ? null : JSON.stringify(text);
}

/** Of what two entries say differently, whichever came first. */
function higher(one: string | null, other: string | null): string | null {
  return one !== null && (other === null || one > other) ? one : other;
}
