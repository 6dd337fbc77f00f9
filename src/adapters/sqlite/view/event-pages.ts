/** An account's events: pages by time, newest first, and the feed in the order of the topic. */
import type {
  EventPlace,
  EventsQuery,
  FeedPosition,
  FeedQuery,
  ViewedEvent,
  ViewQueries,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { outcomeOf, STATE } from './delivery-row.js';
import { ARRIVAL, arrivedOf, type EventRow, routedIn } from './event-row.js';
import {
  ANSWERED,
  type Asking,
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
import { escaped, unescaped } from './schema.js';

type Candidate = EventPlace & Readonly<Record<'row' | 'isShown', number>>;
type Routed = Readonly<Record<'row' | 'isShown' | 'offset' | 'idx', number>>;
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
const NEXT_PARTITION =
  'SELECT min(partition) AS next FROM events WHERE accountId = @accountId AND partition > @partition';
const FEED = `SELECT row, offset, idx, ${ASKED} AND firstAt >= @from AND firstAt < @firstAt AS isShown FROM events
  WHERE accountId = @accountId AND partition = @partition AND (offset, idx) > (@offset, @index) ORDER BY offset, idx`;
const SENT = `SELECT webhookId, id, ${SHOWN_STATE} AS shown FROM deliveries WHERE event = @row ORDER BY webhookId, id`;

export function eventQueries(
  sql: Statements,
  asking: Asking,
  deliveryIdOf: DeliveryIdOf,
): Pick<ViewQueries, 'events' | 'feed'> {
  const { completeSince } = asking;
  const viewed = ({ row }: Pick<Candidate, 'row'>) => {
    const event = sql.row<EventRow>('SELECT * FROM events WHERE row = ?', [row]) as EventRow;
    return viewedOf(event, sql.rows<Sent>(SENT, { ...asking, row }), deliveryIdOf);
  };
  return {
    events({ limit, before, ...query }) {
      const text = list('events.row', sourcesFor(query), { ties: { payment: 'payment' }, isShown: ASKED, is: '<' });
      const { shown, last, more } = pageOf(sql.each<Candidate>(text, asked(asking, query, before)), limit);
      return { events: shown.map(viewed), next: more && last ? placeOf(last) : null, completeSince };
    },
    /** A reader's position in a partition advances only over events that it was given, or that a filter passed over. */
    feed({ limit, after, ...query }) {
      const { shown, last, more } = pageOf(fed(sql, asked(asking, query, null), after), limit);
      const events = shown.map((row) => ({ ...viewed(row), position: row.position }));
      return { events, next: last?.position ?? after, more, completeSince };
    },
  };
}

type Filters = Omit<FeedQuery, 'limit' | 'after'>;

function asked(asking: Asking, query: Filters, before: EventPlace | null) {
  const { reference, arrived, webhookIds } = query;
  const values = valuesOf(query, before ?? {});
  return {
    ...asking,
    ...values,
    reference: escaped(reference),
    arrivals: arrived && JSON.stringify(arrivalsOf(arrived)),
    webhookIds: webhookIds && JSON.stringify(webhookIds),
    isAnswered: values.answer === null && values.errors === null ? null : 1,
  };
}

/** The narrowest: few events are not answered 2xx throughout. */
function sourcesFor({ eventId, reference, arrived, status, errors }: Filters): readonly Source[] {
  if (eventId !== null) return [eventsWith('eventId')];
  if (reference !== null) return [eventsWith('reference')];
  const isInTrouble =
    (arrived !== null && arrived !== 'all') || errors !== null || (status !== null && status !== '2xx');
  if (!isInTrouble) return [OF_ACCOUNT];
  const { from, where } = OF_ACCOUNT;
  const arrivals = arrivalsOf(arrived).filter((one) => one !== ARRIVAL.all);
  return arrivals.map((one) => ({ from, where: `${where} AND arrived = ${one} AND arrived <> ${ARRIVAL.all}` }));
}

function arrivalsOf(arrived: EventsQuery['arrived']): readonly number[] {
  return Object.values(ARRIVAL).filter((one) => arrived === null || arrivedOf(one) === arrived);
}

/** With the position behind each. */
function* fed(sql: Statements, asked: Readonly<Record<string, unknown>>, after: FeedPosition) {
  let position = after;
  for (let partition = -1; ; ) {
    const found = sql.row<{ next: number | null }>(NEXT_PARTITION, { ...asked, partition });
    if (typeof found?.next !== 'number') return;
    partition = found.next;
    const { offset, index } = after.get(partition) ?? { offset: -1, index: 0 };
    for (const row of sql.each<Routed>(FEED, { ...asked, partition, offset, index })) {
      position = new Map(position).set(partition, { offset: row.offset, index: row.idx });
      yield { ...row, position };
    }
  }
}

function placeOf({ firstAt, payment }: EventPlace): EventPlace {
  return { firstAt, payment };
}

function viewedOf(row: EventRow, sent: readonly Sent[], deliveryIdOf: DeliveryIdOf): ViewedEvent {
  const { eventType, arrived, amount, reference } = row;
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
    ...placeOf(row),
    eventId: event.eventId,
    eventType,
    arrived: arrivedOf(arrived),
    amount: unescaped(amount),
    reference: unescaped(reference),
    sentTo: [...known, ...others].sort((one, other) => one.webhookId - other.webhookId),
  };
}
