/** An account's events: pages by time, newest first, and the feed in the order of the topic. */
import type {
  EventPlace,
  EventsQuery,
  FeedPosition,
  FeedQuery,
  ViewedEvent,
  ViewQueries,
  ViewTopic,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { outcomeOf, STATE } from './delivery-row.js';
import { ARRIVAL, arrivedOf, type EventRow, routedIn } from './event-row.js';
import {
  ANSWERED,
  type Asking,
  type Candidate,
  eventsWith,
  filtered,
  isIn,
  list,
  OF_ACCOUNT,
  pageOf,
  SHOWN_STATE,
  type Source,
  valuesOf,
} from './lists.js';
import { unescaped } from './schema.js';

type Routed = Readonly<Record<'partition' | 'offset' | 'idx', number>>;
type Sent = Readonly<Record<'webhookId' | 'shown', number> & Record<'id', string>>;

export type DeliveryIdOf = (
  accountId: number,
  event: { readonly eventId: string; readonly eventSource: string | null },
  webhookId: number,
) => string;

const deliveries = (where: string) => `EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND ${where})`;
const ASKED = filtered({
  eventType: 'eventType = @eventType',
  eventId: 'eventId = @eventId',
  reference: 'reference = @reference',
  arrivals: isIn('arrived', 'arrivals'),
  webhookIds: `(${deliveries(isIn('webhookId', 'webhookIds'))}
    OR EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE ${isIn('routed.value', 'webhookIds')}))`,
  isAnswered: deliveries(filtered(ANSWERED)),
});
const FEED = `SELECT row, events.partition AS partition, events.offset AS offset, idx,
    ${ASKED} AND firstAt >= @from AND firstAt < @firstAt AS isShown
  FROM positions CROSS JOIN events ON accountId = @accountId AND events.partition = positions.partition
    AND (events.offset, idx) > (coalesce(@after ->> ('$.' || positions.partition || '.offset'), -1),
      coalesce(@after ->> ('$.' || positions.partition || '.index'), 0))
  WHERE topic = '${'deliveries' satisfies ViewTopic}' ORDER BY positions.partition, events.offset, idx`;
const SENT = `SELECT webhookId, id, ${SHOWN_STATE} AS shown FROM deliveries WHERE event = @row ORDER BY webhookId, id`;

export function eventQueries(
  sql: Statements,
  asking: Asking,
  deliveryIdOf: DeliveryIdOf,
): Pick<ViewQueries, 'events' | 'feed'> {
  const { completeSince } = asking;
  const viewed = ({ row }: { readonly row: number }) => {
    const event = sql.row<EventRow>('SELECT * FROM events WHERE row = ?', [row]) as EventRow;
    return viewedOf(event, sql.rows<Sent>(SENT, { ...asking, row }), deliveryIdOf);
  };
  return {
    events({ limit, before, ...query }) {
      const text = list('events.row', sourcesFor(query), { ties: { payment: 'payment' }, isShown: ASKED, is: '<' });
      const rows = sql.each<Candidate<EventPlace>>(text, asked(asking, query, before));
      const { shown, reached, more } = pageOf(rows, limit);
      return { events: shown.map(viewed), next: more ? reached : null, completeSince };
    },
    /** A reader's position in a partition advances only over events that it was given, or that a filter passed over. */
    feed({ limit, after, ...query }) {
      const values = { ...asked(asking, query, null), after: JSON.stringify(Object.fromEntries(after)) };
      const rows = sql.each<Candidate<Routed>>(FEED, values);
      const { shown, reached, more } = pageOf(placed(rows, after), limit);
      const events = shown.map((row) => ({ ...viewed(row), position: row.position }));
      return { events, next: reached?.position ?? after, more, completeSince };
    },
  };
}

type Filters = Omit<FeedQuery, 'limit' | 'after'>;

function asked(asking: Asking, { arrived, ...query }: Filters, before: EventPlace | null) {
  const isAnswered = query.status === null && query.errors === null ? null : 1;
  const arrivals = arrived && JSON.stringify(arrivalsOf(arrived));
  return { ...asking, ...valuesOf(query, before ?? {}), arrivals, isAnswered };
}

/** The narrowest: few events are not answered 2xx throughout. */
function sourcesFor({ eventId, reference, arrived, status, errors }: Filters): readonly Source[] {
  if (eventId !== null) return [eventsWith('eventId')];
  if (reference !== null) return [eventsWith('reference')];
  const isInTrouble =
    (arrived !== null && arrived !== 'all') || errors !== null || (status !== null && status !== '2xx');
  if (!isInTrouble) return [OF_ACCOUNT];
  const { from, where } = OF_ACCOUNT;
  const arrivals = arrivalsOf(arrived).filter((one) => one !== ARRIVAL.atOnce);
  return arrivals.map((one) => ({ from, where: `${where} AND arrived = ${one} AND arrived <> ${ARRIVAL.atOnce}` }));
}

function arrivalsOf(arrived: EventsQuery['arrived']): readonly number[] {
  if (arrived === 'incomplete') return [ARRIVAL.nowhere, ARRIVAL.part];
  return Object.values(ARRIVAL).filter((one) => arrived === null || arrivedOf(one) === arrived);
}

/** With the position behind each. */
function* placed(rows: Iterable<Candidate<Routed>>, after: FeedPosition) {
  let position = after;
  for (const { row, isShown, partition, offset, idx: index } of rows) {
    position = new Map(position).set(partition, { offset, index });
    yield { row, isShown, position };
  }
}

function viewedOf(row: EventRow, sent: readonly Sent[], deliveryIdOf: DeliveryIdOf): ViewedEvent {
  const { firstAt, payment, eventType, arrived, amount, reference } = row;
  const event = { eventId: unescaped(row.eventId), eventSource: unescaped(row.eventSource) };
  const known = sent.map(({ webhookId, id, shown }) => {
    return { webhookId, deliveryId: id, outcome: outcomeOf(shown), held: shown === STATE.held };
  });
  const others = routedIn(row)
    .filter((webhookId) => sent.every((one) => one.webhookId !== webhookId))
    .map((webhookId) => {
      return { webhookId, deliveryId: deliveryIdOf(row.accountId, event, webhookId), outcome: null, held: false };
    });
  return {
    firstAt,
    payment,
    eventId: event.eventId,
    eventType,
    arrived: arrivedOf(arrived),
    amount: unescaped(amount),
    reference: unescaped(reference),
    sentTo: [...known, ...others].sort((one, other) => one.webhookId - other.webhookId),
  };
}
