/** Deliveries, by one webhook or all of an account's: pages, newest first, and single ones in detail. */
import type { DeliveriesQuery, ViewAttempt, ViewedDelivery, ViewQueries } from '../../../ports/deliveries-view.js';
import { REMOVAL } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import { type AttemptRow, type DeliveryRow, foldOf, NO_WAIT, outcomeOf, STATE, STATES } from './delivery-row.js';
import type { EventRow } from './event-row.js';
import {
  ANSWERED,
  type Asking,
  eventsWith,
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
import { rowsWith, unescaped } from './schema.js';

type Stored = DeliveryRow &
  Pick<EventRow, 'eventId' | 'eventType' | 'eventSource' | 'payment' | 'routedAt'> &
  Readonly<Record<'shown' | 'isRemoved' | 'requests', number>>;

export const DELIVERIES: Pick<List, 'row' | 'tie'> = { row: 'deliveries.row', tie: 'id' };
const THEIR_EVENT = 'CROSS JOIN events ON events.row = deliveries.event';
const ASKED = filtered({
  webhookId: 'webhookId = @webhookId',
  eventType: 'eventType = @eventType',
  states: isIn(SHOWN_STATE, 'states'),
  ...ANSWERED,
});
const PUBLICATIONS = `SELECT deliveries.row AS row FROM ${rowsWith('deliveries', 'id')}
  CROSS JOIN deliveries ON deliveries.row = found ${THEIR_EVENT} ORDER BY deliveries.firstAt DESC, payment DESC`;
const ONE = `SELECT deliveries.*, eventId, eventSource, eventType, routedAt, payment, ${SHOWN_STATE} AS shown,
    ${IS_REMOVED} AS isRemoved, (SELECT count(*) FROM requests WHERE delivery = deliveries.row) AS requests
  FROM deliveries ${THEIR_EVENT} WHERE deliveries.row = @row`;
const ATTEMPTS_OF = `SELECT at AS triedAt, status, error, durationMs, version, more, iif(@answers, response, NULL) AS response
  FROM attempts WHERE delivery = @row ORDER BY at, status, error, durationMs, version, more`;

export function deliveryQueries(sql: Statements, asking: Asking): Pick<ViewQueries, 'page' | 'publications'> {
  return {
    page({ limit, before, ...query }) {
      const { outcome, held } = query;
      const isHeld = (state: number) => held === null || held === (state === STATE.held);
      const states = STATES.filter((state) => isHeld(state) && (outcome === null || outcomeOf(state) === outcome));
      const list: List = { ...DELIVERIES, sources: sourcesFor(query, states), isShown: ASKED, is: '<' };
      const values = { ...asking, ...valuesOf(query, before), states };
      const { shown, next } = listed(sql, list, values, limit);
      const deliveries = shown.map(({ row }) => deliveryIn(sql, row, asking));
      return { deliveries, next, completeSince: asking.completeSince };
    },
    publications: (id) =>
      sql.rows<{ row: number }>(PUBLICATIONS, { ...asking, id }).map(({ row }) => deliveryIn(sql, row, asking, 1)),
  };
}

export function inStates(states: readonly number[], where: string): readonly Source[] {
  return (states.length > 0 ? states : [-1]).map((state) => ({
    from: `deliveries ${THEIR_EVENT}`,
    where: `deliveries.accountId = @accountId AND ${where} AND state = ${state}`,
    time: 'deliveries.firstAt',
  }));
}

type Filters = Pick<DeliveriesQuery, 'webhookId' | 'eventId' | 'status' | 'errors'>;

/** The narrowest. @param shown states; what waits for a removed webhook is shown as removed */
function sourcesFor(asked: Filters, shown: readonly number[]): readonly Source[] {
  const ofEvents = (events: Source) => [
    { ...events, from: `${events.from} CROSS JOIN deliveries ON deliveries.event = events.row` },
  ];
  if (asked.eventId !== null) return ofEvents(eventsWith('eventId'));
  const isShown = (state: number) => shown.includes(state) && !(state === STATE.atOnce && isOfFailed(asked));
  const stored = STATES.filter((state) => isShown(state) || (state === STATE.retrying && isShown(STATE.removed)));
  if (asked.webhookId !== null) return inStates(stored, 'webhookId = @webhookId');
  return stored.includes(STATE.atOnce) ? ofEvents(OF_ACCOUNT) : inStates(stored, 'state <> 0');
}

/** @param answers 1: also those of failed attempts; 3.2 MB between the threads for a page of 200 */
export function deliveryIn(sql: Statements, row: number, asking: Asking, answers: 0 | 1 = 0): ViewedDelivery {
  const stored = sql.row<Stored>(ONE, { ...asking, row }) as Stored;
  const { shown, isRemoved, eventId, eventSource } = stored;
  const { id, accountId, webhookId, webhookEvent, eventType, firstAt, payment, routedAt, requests } = stored;
  const { last, givenUp, asked, progressed } = foldOf(stored);
  const hadEnded = last.outcome === 'delivered' || givenUp !== null;
  const { nextAttemptAt, waitingFor, step } = shown === STATE.retrying ? last : NO_WAIT;
  return {
    ...{ id, accountId, webhookId, webhookEvent, eventType, firstAt, payment, routedAt, requests },
    eventId: unescaped(eventId),
    eventSource: unescaped(eventSource),
    outcome: outcomeOf(shown),
    held: shown === STATE.held,
    endedBy: shown === STATE.removed ? REMOVAL : null,
    ...{ nextAttemptAt, waitingFor: waitingFor ?? null, step },
    sentAgain: hadEnded && asked > progressed && isRemoved === 0,
    attempts: sql.rows<AttemptRow>(ATTEMPTS_OF, { row, answers }).map(attemptOf),
  };
}

function attemptOf({ triedAt, status, error, durationMs, version, more, response }: AttemptRow): ViewAttempt {
  const rest = unescaped(more || null) as Pick<ViewAttempt, 'reason' | 'trigger' | 'actor'> | null;
  const answer = { status: status || null, error: unescaped(error || null), ...(response !== null && { response }) };
  return { at: new Date(triedAt).toISOString(), durationMs, version, ...rest, ...answer };
}
