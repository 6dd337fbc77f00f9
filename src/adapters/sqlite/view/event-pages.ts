/** An account's events: pages by time, newest first, and the feed in the order of the topic. */
import type {
  EventsQuery,
  FeedPosition,
  FeedQuery,
  ListPlace,
  SteppedQueries,
  Steps,
  ViewedEvent,
  ViewTopic,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { outcomeOf, STATE } from './delivery-row.js';
import { ARRIVAL, arrivedOf, type EventRow } from './event-row.js';
import { FOUND_EVENTS, rowsWith } from './found-rows.js';
import {
  ANSWERED,
  type Asking,
  filtered,
  isIn,
  isOfFailed,
  type List,
  listed,
  OF_ACCOUNT,
  SHOWN_STATE,
  type Source,
  valuesOf,
} from './lists.js';
import { escaped, unescaped } from './schema.js';
import { pageOf } from './steps.js';

type Routed = Readonly<Record<'row' | 'isShown' | 'partition' | 'offset' | 'idx', number>>;
type Sent = { readonly webhookId: number; readonly id: string | null; readonly shown: number | null };

const deliveries = (where: string) => `EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND ${where})`;
const ASKED = `${filtered({
  eventType: 'eventType = @eventType',
  eventId: 'eventId = @eventId',
  reference: 'reference = @reference',
  arrivals: isIn('arrived', 'arrivals'),
  webhookIds: `(${deliveries(isIn('webhookId', 'webhookIds'))}
    OR EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE ${isIn('routed.value', 'webhookIds')}))`,
})} AND (coalesce(@answer, @errors) IS NULL OR ${deliveries(filtered(ANSWERED))})`;
const FEED = `SELECT row, events.partition AS partition, events.offset AS offset, idx,
    ${ASKED} AND firstAt >= @from AND firstAt < @firstAt AS isShown
  FROM positions CROSS JOIN events INDEXED BY eventsInFeed
    ON accountId = @accountId AND events.partition = positions.partition
    AND (events.offset, idx) > (coalesce(@after ->> ('$.' || positions.partition || '.offset'), -1),
      coalesce(@after ->> ('$.' || positions.partition || '.index'), 0))
  WHERE topic = '${'deliveries' satisfies ViewTopic}' ORDER BY positions.partition, events.offset, idx`;
/** Nothing is known yet of a delivery without an id. */
const SENT = `SELECT webhookId, id, ${SHOWN_STATE} AS shown FROM deliveries WHERE event = @row
  UNION ALL SELECT value, NULL, NULL FROM json_each(@webhooks)
    WHERE value NOT IN (SELECT webhookId FROM deliveries WHERE event = @row)
  ORDER BY webhookId, id`;

export function eventQueries(sql: Statements, asking: Asking): Pick<SteppedQueries, 'events' | 'feed'> {
  const { completeSince } = asking;
  const viewed = ({ row }: { readonly row: number }) => {
    const event = eventIn(sql, row);
    return viewedOf(event, sql.rows<Sent>(SENT, { ...asking, ...event }));
  };
  return {
    *events({ limit, before, ...query }) {
      const list: List = { row: 'events.row', sources: sourcesFor(query), tie: "''", isShown: ASKED, is: '<' };
      const values = { ...asked(asking, query, before), found: yield* foundEvents(sql, asking, query) };
      const { shown, next } = yield* listed(sql, list, values, limit, viewed);
      return { events: shown, next, completeSince };
    },
    /** A reader's position in a partition advances only over events that it was given, or that a filter passed over. */
    *feed({ limit, after, ...query }) {
      const values = asked(asking, query, null);
      const rowsAfter = (last: Placed | null) => {
        const position = last?.position ?? after;
        const json = JSON.stringify(Object.fromEntries(position));
        return placed(sql.each<Routed>(FEED, { ...values, after: json }), position);
      };
      const view = (row: Placed) => ({ ...viewed(row), position: row.position });
      const { shown, last, more } = yield* pageOf(rowsAfter, limit, view);
      return { events: shown, next: last?.position ?? after, more, completeSince };
    },
  };
}

function* foundEvents(sql: Statements, asking: Asking, { eventId, reference }: Filters): Steps<readonly number[]> {
  if (eventId !== null) return yield* rowsWith(sql, asking, 'events', 'eventId', escaped(eventId));
  return reference === null ? [] : yield* rowsWith(sql, asking, 'events', 'reference', escaped(reference));
}

export function eventIn(sql: Statements, row: number): EventRow {
  return sql.row<EventRow>('SELECT * FROM events WHERE row = ?', [row]) as EventRow;
}

type Filters = Omit<FeedQuery, 'limit' | 'after'>;

function asked(asking: Asking, { arrived, ...query }: Filters, before: ListPlace | null) {
  return { ...asking, ...valuesOf(query, before), arrivals: arrived && arrivalsOf(arrived) };
}

/** The narrowest: few events are not answered 2xx throughout. */
function sourcesFor(asked: Filters): readonly Source[] {
  if (asked.eventId !== null || asked.reference !== null) return [FOUND_EVENTS];
  const arrivals = arrivalsOf(asked.arrived).filter((one) => !(one === ARRIVAL.atOnce && isOfFailed(asked)));
  if (arrivals.includes(ARRIVAL.atOnce)) return [OF_ACCOUNT];
  const from = 'events INDEXED BY eventsInTrouble';
  const where = `${OF_ACCOUNT.where} AND arrived <> ${ARRIVAL.atOnce}`;
  return arrivals.map((one) => ({ ...OF_ACCOUNT, from, where: `${where} AND arrived = ${one}` }));
}

function arrivalsOf(arrived: EventsQuery['arrived']): readonly number[] {
  if (arrived === 'pending') return [ARRIVAL.nowherePending, ARRIVAL.partPending];
  if (arrived === 'incomplete') return Object.values(ARRIVAL).filter((one) => /nowhere|part/.test(arrivedOf(one)));
  return Object.values(ARRIVAL).filter((one) => arrived === null || arrivedOf(one) === arrived);
}

type Placed = Pick<Routed, 'row' | 'isShown'> & { readonly position: FeedPosition };

/** With the position behind each. */
function* placed(rows: Iterable<Routed>, after: FeedPosition): Iterable<Placed> {
  let position = after;
  for (const { row, isShown, partition, offset, idx: index } of rows) {
    position = new Map(position).set(partition, { offset, index });
    yield { row, isShown, position };
  }
}

function viewedOf(row: EventRow, sent: readonly Sent[]): ViewedEvent {
  const { firstAt, payment, eventType, arrived, amount, reference, routedAt } = row;
  return {
    firstAt,
    payment,
    routedAt,
    eventId: unescaped(row.eventId),
    eventSource: unescaped(row.eventSource),
    eventType,
    arrived: arrivedOf(arrived),
    amount: unescaped(amount),
    reference: unescaped(reference),
    sentTo: sent.map(({ webhookId, id: deliveryId, shown }) => {
      const outcome = shown === null ? null : outcomeOf(shown);
      return { webhookId, deliveryId, outcome, held: shown === STATE.held };
    }),
  };
}
