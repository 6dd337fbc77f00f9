/** Deliveries, by one webhook or all of an account's: pages, newest first, and single ones in detail. */
import type { DeliveriesQuery, SteppedQueries, ViewedDelivery } from '../../../ports/deliveries-view.js';
import { REMOVAL } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import {
  type AttemptRow,
  type DeliveryRow,
  foldOf,
  outcomeOf,
  STATE,
  STATES,
  toAttempt,
  toWait,
} from './delivery-row.js';
import type { EventRow } from './event-row.js';
import { FOUND_EVENTS, rowsWith } from './found-rows.js';
import {
  ANSWERED,
  type Asking,
  filtered,
  IS_REMOVED,
  isIn,
  isOfFailed,
  type List,
  listed,
  OF_ACCOUNT,
  SHOWN_STATE,
  type Source,
  valuesOf,
} from './lists.js';
import { escaped, offsetIn, unescaped } from './schema.js';

type Stored = DeliveryRow &
  Pick<EventRow, 'eventId' | 'eventType' | 'eventSource' | 'payment' | 'routedAt'> &
  Readonly<Record<'shown' | 'isRemoved' | 'requests', number>>;

/** An event without deliveries is a row too, for it has to be examined. */
export const DELIVERIES: Pick<List, 'row' | 'tie'> = { row: 'deliveries.row', tie: "ifnull(deliveries.id, '')" };
const THEIR_EVENT = 'CROSS JOIN events ON events.row = deliveries.event';
const ASKED = `deliveries.row IS NOT NULL AND ${filtered({
  webhookId: 'webhookId = @webhookId',
  eventType: 'eventType = @eventType',
  eventId: 'eventId = @eventId',
  states: isIn(SHOWN_STATE, 'states'),
  ...ANSWERED,
})}`;
const ONE = `SELECT deliveries.*, eventId, eventSource, eventType, routedAt, payment, ${SHOWN_STATE} AS shown,
    ${IS_REMOVED} AS isRemoved, (SELECT count(*) FROM requests WHERE delivery = deliveries.row) AS requests
  FROM deliveries ${THEIR_EVENT} WHERE deliveries.row = @row AND deliveries.accountId = @accountId`;
const ATTEMPTS_OF = `SELECT at AS triedAt, status, error, durationMs, version, more, iif(@answers, response, NULL) AS response
  FROM attempts WHERE delivery = @row ORDER BY at, status, error, durationMs, version, more`;

/** Publications whose details a step reads. */
const DETAILS_PER_STEP = 50;

export function deliveryQueries(sql: Statements, asking: Asking): Pick<SteppedQueries, 'page' | 'publications'> {
  return {
    *page({ limit, before, ...query }) {
      const { outcome, held, eventId } = query;
      const isHeld = (state: number) => held === null || held === (state === STATE.held);
      const states = STATES.filter((state) => isHeld(state) && (outcome === null || outcomeOf(state) === outcome));
      const list: List = { ...DELIVERIES, sources: sourcesFor(query, states), isShown: ASKED, is: '<' };
      const found = eventId === null ? [] : yield* rowsWith(sql, asking, 'events', 'eventId', escaped(eventId));
      const values = { ...asking, ...valuesOf(query, before), states, found };
      const view = ({ row }: { readonly row: number }) => deliveryIn(sql, row, asking) as ViewedDelivery;
      const { shown, next } = yield* listed(sql, list, values, limit, view);
      return { deliveries: shown, next, completeSince: asking.completeSince };
    },
    *publications(id) {
      const rows = yield* rowsWith(sql, asking, 'deliveries', 'id', id);
      const found: ViewedDelivery[] = [];
      for (const [index, row] of rows.entries()) {
        if (index % DETAILS_PER_STEP === DETAILS_PER_STEP - 1) yield;
        const delivery = deliveryIn(sql, row, asking, 1);
        if (delivery?.id === id) found.push(delivery);
      }
      return found.sort(newestFirst);
    },
  };
}

function newestFirst(one: ViewedDelivery, other: ViewedDelivery): number {
  const [a, b] = [one, other].map(({ firstAt, payment }) => ({ firstAt, offset: offsetIn(payment), payment }));
  if (!a || !b) return 0;
  return b.firstAt - a.firstAt || b.offset - a.offset || (b.payment > a.payment ? 1 : -1);
}

export function inStates(
  states: readonly number[],
  index: 'deliveriesInTrouble' | 'deliveriesOfWebhook',
): readonly Source[] {
  const where = index === 'deliveriesInTrouble' ? 'state <> 0' : 'webhookId = @webhookId';
  return (states.length > 0 ? states : [-1]).map((state) => ({
    from: `deliveries INDEXED BY ${index} ${THEIR_EVENT}`,
    where: `deliveries.accountId = @accountId AND ${where} AND state = ${state}`,
    by: 'deliveries',
  }));
}

type Filters = Pick<DeliveriesQuery, 'webhookId' | 'eventId' | 'status' | 'errors'>;

/** The narrowest. @param shown states; what waits for a removed webhook is shown as removed */
function sourcesFor(asked: Filters, shown: readonly number[]): readonly Source[] {
  const ofEvents = (events: Source) => {
    const join = 'LEFT JOIN deliveries INDEXED BY deliveriesOfEvent ON deliveries.event = events.row';
    return [{ ...events, from: `${events.from} ${join}` }];
  };
  if (asked.eventId !== null) return ofEvents(FOUND_EVENTS);
  const isShown = (state: number) => shown.includes(state) && !(state === STATE.atOnce && isOfFailed(asked));
  const stored = STATES.filter((state) => isShown(state) || (state === STATE.retrying && isShown(STATE.removed)));
  if (asked.webhookId !== null) return inStates(stored, 'deliveriesOfWebhook');
  return stored.includes(STATE.atOnce) ? ofEvents(OF_ACCOUNT) : inStates(stored, 'deliveriesInTrouble');
}

/** Null: it has left. @param answers 1: also those of failed attempts; 3.2 MB between the threads for a page of 200 */
export function deliveryIn(sql: Statements, row: number, asking: Asking, answers: 0 | 1 = 0): ViewedDelivery | null {
  const stored = sql.row<Stored>(ONE, { ...asking, row });
  if (!stored) return null;
  const { shown, isRemoved, eventId, eventSource } = stored;
  const { id, accountId, webhookId, webhookEvent, eventType, firstAt, payment, routedAt, requests } = stored;
  const { last, givenUp, asked, progressed } = foldOf(stored);
  const hadEnded = last.outcome === 'delivered' || givenUp !== null;
  return {
    ...{ id, accountId, webhookId, webhookEvent, eventType, firstAt, payment, routedAt, requests },
    eventId: unescaped(eventId),
    eventSource: unescaped(eventSource),
    outcome: outcomeOf(shown),
    held: shown === STATE.held,
    endedBy: shown === STATE.removed ? REMOVAL : null,
    ...toWait(shown, last),
    sentAgain: hadEnded && asked > progressed && isRemoved === 0,
    attempts: sql.rows<AttemptRow>(ATTEMPTS_OF, { row, answers }).map(toAttempt),
  };
}
