/** An account's events: pages by time, newest first, and the feed in the order of the topic. */
import type {
  EventsQuery,
  FeedPosition,
  FeedQuery,
  ListPlace,
  ViewedEvent,
  ViewQueries,
  ViewTopic,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { outcomeOf, STATE } from './delivery-row.js';
import { ARRIVAL, arrivedOf, type EventRow } from './event-row.js';
import {
  ANSWERED,
  type Asking,
  eventsWith,
  filtered,
  isIn,
  isOfFailed,
  type List,
  listed,
  OF_ACCOUNT,
  pageOf,
  SHOWN_STATE,
  type Source,
  valuesOf,
} from './lists.js';
import { unescaped } from './schema.js';

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
  FROM positions CROSS JOIN events ON accountId = @accountId AND events.partition = positions.partition
    AND (events.offset, idx) > (coalesce(@after ->> ('$.' || positions.partition || '.offset'), -1),
      coalesce(@after ->> ('$.' || positions.partition || '.index'), 0))
  WHERE topic = '${'deliveries' satisfies ViewTopic}' ORDER BY positions.partition, events.offset, idx`;
/** Nothing is known yet of a delivery without an id. */
const SENT = `SELECT webhookId, id, ${SHOWN_STATE} AS shown FROM deliveries WHERE event = @row
  UNION ALL SELECT value, NULL, NULL FROM json_each(@webhooks)
    WHERE value NOT IN (SELECT webhookId FROM deliveries WHERE event = @row)
  ORDER BY webhookId, id`;

export function eventQueries(sql: Statements, asking: Asking): Pick<ViewQueries, 'events' | 'feed'> {
  const { completeSince } = asking;
  const viewed = ({ row }: { readonly row: number }) => {
    const event = eventIn(sql, row);
    return viewedOf(event, sql.rows<Sent>(SENT, { ...asking, ...event }));
  };
  return {
    events({ limit, before, ...query }) {
      const list: List = { row: 'events.row', sources: sourcesFor(query), tie: "''", isShown: ASKED, is: '<' };
      const { shown, next } = listed(sql, list, asked(asking, query, before), limit);
      return { events: shown.map(viewed), next, completeSince };
    },
    /** A reader's position in a partition advances only over events that it was given, or that a filter passed over. */
    feed({ limit, after, ...query }) {
      const values = { ...asked(asking, query, null), after: JSON.stringify(Object.fromEntries(after)) };
      const { shown, last, more } = pageOf(placed(sql.each<Routed>(FEED, values), after), limit);
      const events = shown.map((row) => ({ ...viewed(row), position: row.position }));
      return { events, next: last?.position ?? after, more, completeSince };
    },
  };
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
  if (asked.eventId !== null) return [eventsWith('eventId')];
  if (asked.reference !== null) return [eventsWith('reference')];
  const arrivals = arrivalsOf(asked.arrived).filter((one) => !(one === ARRIVAL.atOnce && isOfFailed(asked)));
  if (arrivals.includes(ARRIVAL.atOnce)) return [OF_ACCOUNT];
  const where = `${OF_ACCOUNT.where} AND arrived <> ${ARRIVAL.atOnce}`;
  return arrivals.map((one) => ({ ...OF_ACCOUNT, where: `${where} AND arrived = ${one}` }));
}

function arrivalsOf(arrived: EventsQuery['arrived']): readonly number[] {
  if (arrived === 'incomplete') return [ARRIVAL.nowhere, ARRIVAL.part];
  return Object.values(ARRIVAL).filter((one) => arrived === null || arrivedOf(one) === arrived);
}

/** With the position behind each. */
function* placed(rows: Iterable<Routed>, after: FeedPosition) {
  let position = after;
  for (const { row, isShown, partition, offset, idx: index } of rows) {
    position = new Map(position).set(partition, { offset, index });
    yield { row, isShown, position };
  }
}

function viewedOf(row: EventRow, sent: readonly Sent[]): ViewedEvent {
  const { firstAt, payment, eventType, arrived, amount, reference } = row;
  return {
    firstAt,
    payment,
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
