/** Deliveries, by one webhook or all of an account's: pages, newest first, and single ones in detail. */
import type {
  DeliveriesQuery,
  DeliveryDetail,
  DeliveryPlace,
  ViewAttempt,
  ViewedDelivery,
  ViewQueries,
} from '../../../ports/deliveries-view.js';
import { REMOVAL } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import {
  ANSWERED,
  type Asking,
  filtered,
  IS_REMOVED,
  isIn,
  MOST_WITH_ID,
  merged,
  PAYMENT,
  pageOf,
  SHOWN_STATE,
  valuesOf,
} from './asking.js';
import { type DeliveryRow, outcomeOf, requestedIn, STATE, STATES } from './delivery-row.js';
import { blocksOf, idStart, type Row, unescaped } from './schema.js';

/** A row of a list, before it is read. */
export type Candidate = DeliveryPlace & Row<'row' | 'isShown'>;

type Stored = DeliveryRow &
  Row<
    'accountId' | 'firstAt' | 'shown' | 'isRemoved',
    'webhookEvent' | 'eventId' | 'eventType' | 'payment',
    'eventSource',
    'routedAt'
  >;
type AttemptRow = Row<'at' | 'status' | 'durationMs' | 'version', 'error' | 'more', 'response'>;

/** Publications of an event: more than any producer makes while the schedule of the first one runs. */
const MOST_PUBLICATIONS = 1_000;

const WITH_EVENT = 'CROSS JOIN events ON events.row = deliveries.event';
const candidate = (isShown: string) => `SELECT deliveries.row AS row, deliveries.firstAt AS firstAt,
  ${idStart('id')} AS idStart, id, ${PAYMENT} AS payment, ${isShown} AS isShown`;

/**
 * SQL: deliveries of some states, merged in their order. The index has the beginning of ids, and SQLite sorts by what else
 * there is within one ms. @from and @most are bounds of firstAt, for the range of the index; the place is compared in it.
 * @param isShown an expression
 */
export function inStates(
  states: readonly number[],
  { where, is, isShown }: { readonly where: string; readonly is: '<' | '>'; readonly isShown: string },
): string {
  const order = is === '<' ? 'DESC' : 'ASC';
  const arm = (state: number) => `
    ${candidate(isShown)} FROM deliveries ${WITH_EVENT}
    WHERE deliveries.accountId = @accountId AND ${where} AND state = ${state} AND deliveries.firstAt >= @from
      AND deliveries.firstAt <= @most
      AND (deliveries.firstAt, ${idStart('id')}, id, ${PAYMENT}) ${is} (@firstAt, ${idStart('@id')}, @id, @payment)`;
  return merged(states, arm, `firstAt ${order}, idStart ${order}, id ${order}, payment ${order}`);
}

export function placeOf({ firstAt, id, payment }: DeliveryPlace): DeliveryPlace {
  return { firstAt, id, payment };
}

const ASKED = filtered({
  webhookId: 'webhookId = @webhookId',
  eventType: 'eventType = @eventType',
  states: isIn(SHOWN_STATE, 'states'),
  ...ANSWERED,
});
const NEWEST_FIRST = 'ORDER BY firstAt DESC, id DESC, payment DESC';
const OF_EVENTS = `${candidate(ASKED)} FROM events CROSS JOIN deliveries ON deliveries.event = events.row
  WHERE events.accountId = @accountId AND events.firstAt >= @from AND events.firstAt <= @most
    AND (events.firstAt, id, ${PAYMENT}) < (@firstAt, @id, @payment)
  ORDER BY events.firstAt DESC, id DESC, payment DESC`;
const OF_EVENT = `SELECT * FROM (
    ${candidate(ASKED)} FROM ${blocksOf('events')}
    CROSS JOIN events ON events.row >> 13 = blocks.n AND events.accountId = @accountId AND eventId = @eventId
    CROSS JOIN deliveries ON deliveries.event = events.row LIMIT ${MOST_WITH_ID}
  ) WHERE firstAt >= @from AND (firstAt, id, payment) < (@firstAt, @id, @payment) ${NEWEST_FIRST}`;
const WITH_ID = `${candidate('1')} FROM ${blocksOf('deliveries')}
  CROSS JOIN deliveries ON deliveries.row >> 13 = blocks.n AND ${idStart('id')} = ${idStart('@id')} AND id = @id
  ${WITH_EVENT} WHERE deliveries.accountId = @accountId ${NEWEST_FIRST} LIMIT ${MOST_PUBLICATIONS}`;
const ONE = `SELECT deliveries.*, eventId, eventSource, eventType, routedAt, ${PAYMENT} AS payment, ${SHOWN_STATE} AS shown,
    ${IS_REMOVED} AS isRemoved
  FROM deliveries ${WITH_EVENT} WHERE deliveries.row = @row`;

const ATTEMPTS_OF = 'SELECT * FROM attempts WHERE delivery = ? ORDER BY at, status, error, durationMs, version, more';

export function deliveryQueries(sql: Statements, asking: Asking): Pick<ViewQueries, 'page' | 'publications'> {
  return {
    page({ limit, before, ...query }) {
      const { text, states } = listFor(query);
      const asked = {
        ...asking,
        ...valuesOf(query, before),
        webhookId: query.webhookId,
        states: JSON.stringify(states),
      };
      const { shown, last, more } = pageOf(sql.each<Candidate>(text, asked), limit);
      const deliveries = shown.map(({ row }) => viewedOf(...read(sql, row, asking)));
      return { deliveries, next: more && last ? placeOf(last) : null, completeSince: asking.completeSince };
    },
    publications: (id) => sql.rows<Candidate>(WITH_ID, { ...asking, id }).map(({ row }) => detail(sql, row, asking)),
  };
}

export function detail(sql: Statements, row: number, asking: Asking): DeliveryDetail {
  return detailOf(...read(sql, row, asking));
}

/** The narrowest list that has what is asked for, and the states of what is shown. */
function listFor(query: Omit<DeliveriesQuery, 'limit' | 'before'>) {
  const { webhookId, eventId, outcome, held, status, errors } = query;
  const states = STATES.filter(
    (state) => (outcome === null || outcomeOf(state) === outcome) && (held === null || (state === STATE.held) === held),
  );
  if (eventId !== null) return { states, text: OF_EVENT };
  const hasFailed = errors !== null || (status !== null && status !== '2xx');
  // What waits for a removed webhook is shown as removed.
  const isStored = (state: number) =>
    states.includes(state) || (state === STATE.retrying && states.includes(STATE.removed));
  const stored = STATES.filter((state) => isStored(state) && !(hasFailed && state === STATE.delivered));
  if (webhookId === null && stored.includes(STATE.delivered)) return { states, text: OF_EVENTS };
  const where = webhookId === null ? 'state <> 0' : 'webhookId = @webhookId';
  return { states, text: inStates(stored, { where, is: '<', isShown: ASKED }) };
}

function read(sql: Statements, row: number, asking: Asking) {
  const stored = sql.row<Stored>(ONE, { ...asking, row }) as Stored;
  return [stored, sql.rows<AttemptRow>(ATTEMPTS_OF, [row])] as const;
}

function viewedOf(row: Stored, attempts: readonly AttemptRow[]): ViewedDelivery {
  const { id, webhookId, eventType, firstAt, shown } = row;
  const isWaiting = shown === STATE.retrying;
  return {
    id,
    webhookId,
    eventId: unescaped(row.eventId),
    eventType,
    firstAt,
    outcome: outcomeOf(shown),
    held: shown === STATE.held,
    endedBy: shown === STATE.removed ? REMOVAL : null,
    nextAttemptAt: isWaiting ? row.last_nextAttemptAt : null,
    waitingFor: isWaiting ? (row.last_waitingFor ?? null) : null,
    attempts: attempts.map(attemptOf),
  };
}

function detailOf(row: Stored, attempts: readonly AttemptRow[]): DeliveryDetail {
  const { accountId, webhookEvent, state, routedAt, eventSource, isRemoved } = row;
  const requested = requestedIn(row);
  const hadEnded = outcomeOf(state) === 'delivered' || row.given_state !== null;
  const isAsked = (requested.at(-1) ?? 0) > (row.progressed ?? 0);
  const answered = attempts.filter(({ response }) => response !== null);
  return {
    ...viewedOf(row, attempts),
    accountId,
    eventSource: unescaped(eventSource),
    payment: row.payment || null,
    webhookEvent,
    step: state === STATE.retrying ? row.last_step : null,
    requests: requested.length,
    sentAgain: hadEnded && isAsked && isRemoved === 0,
    routedAt,
    responses: new Map(answered.map(({ at, response }) => [isoOf(at), response ?? ''])),
  };
}

function attemptOf({ at, status, error, durationMs, version, more }: AttemptRow): ViewAttempt {
  const rest = unescaped(more || null) as Pick<ViewAttempt, 'reason' | 'trigger' | 'actor'> | null;
  return { at: isoOf(at), status: status || null, error: unescaped(error || null), durationMs, version, ...rest };
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
