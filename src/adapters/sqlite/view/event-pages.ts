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
import {
  ANSWERED,
  type Asking,
  filtered,
  isIn,
  MOST_WITH_ID,
  merged,
  pageOf,
  SHOWN_STATE,
  valuesOf,
} from './asking.js';
import { outcomeOf, STATE } from './delivery-row.js';
import { ARRIVAL, arrivedOf, type EventRow, NO_PLACE, routedIn } from './event-row.js';
import { blocksOf, escaped, type Row, unescaped } from './schema.js';

type Candidate = EventPlace & Row<'row' | 'isShown'>;
type Routing = Candidate & Row<'offset' | 'idx'>;
type Sent = Row<'webhookId' | 'shown', 'id'>;

export type DeliveryIdOf = (
  accountId: number,
  event: { readonly eventId: string; readonly eventSource: string | null },
  webhookId: number,
) => string;

const deliveries = (where: string) => `EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND ${where})`;
const ASKED = `substr(payment, 1, 1) <> '${NO_PLACE}' AND ${filtered({
  eventType: 'eventType = @eventType',
  eventId: 'eventId = @eventId',
  reference: 'reference = @reference',
  arrivals: isIn('arrived', 'arrivals'),
  webhookIds: `(${deliveries(isIn('webhookId', 'webhookIds'))}
    OR EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE ${isIn('routed.value', 'webhookIds')}))`,
  isAnswered: deliveries(filtered(ANSWERED)),
})}`;

const candidate = (isShown: string) => `SELECT events.row AS row, firstAt, payment, ${isShown} AS isShown`;
const WITHIN = 'accountId = @accountId AND firstAt >= @from AND (firstAt, payment) < (@firstAt, @payment)';
const NEWEST_FIRST = 'firstAt DESC, payment DESC';
const IN_ORDER = `${candidate(ASKED)} FROM events WHERE ${WITHIN} ORDER BY ${NEWEST_FIRST}`;
const inTrouble = (arrivals: readonly number[]) =>
  merged(
    arrivals.filter((one) => one !== ARRIVAL.all),
    (one) => `${candidate(ASKED)} FROM events WHERE arrived = ${one} AND arrived <> ${ARRIVAL.all} AND ${WITHIN}`,
    NEWEST_FIRST,
  );
const withText = (column: 'eventId' | 'reference') => `
  ${candidate(ASKED)} FROM (
    SELECT events.row AS found FROM ${blocksOf('events')}
    CROSS JOIN events ON events.row >> 13 = blocks.n AND accountId = @accountId AND ${column} = @${column}
    LIMIT ${MOST_WITH_ID}
  ) CROSS JOIN events ON events.row = found WHERE ${WITHIN} ORDER BY ${NEWEST_FIRST}`;
const NEXT_PARTITION =
  'SELECT min(partition) AS next FROM routings WHERE accountId = @accountId AND partition > @partition';
const ROUTINGS = `${candidate(`${ASKED} AND firstAt >= @from AND firstAt < @firstAt`)}, offset, idx
  FROM routings CROSS JOIN events ON events.row = routings.event
  WHERE routings.accountId = @accountId AND partition = @partition AND (offset, idx) > (@offset, @index)
  ORDER BY offset, idx`;
const SENT = `SELECT webhookId, id, ${SHOWN_STATE} AS shown FROM deliveries WHERE event = @row ORDER BY webhookId, id`;

export function eventQueries(
  sql: Statements,
  asking: Asking,
  deliveryIdOf: DeliveryIdOf,
): Pick<ViewQueries, 'events' | 'feed'> {
  const { completeSince } = asking;
  const viewed = ({ row }: Candidate) => {
    const event = sql.row<EventRow>('SELECT * FROM events WHERE row = ?', [row]) as EventRow;
    return viewedOf(event, sql.rows<Sent>(SENT, { ...asking, row }), deliveryIdOf);
  };
  return {
    events({ limit, before, ...query }) {
      const { shown, last, more } = pageOf(sql.each<Candidate>(listFor(query), asked(asking, query, before)), limit);
      return { events: shown.map(viewed), next: more && last ? placeOf(last) : null, completeSince };
    },
    /** A reader's position in a partition advances only over routings that it was given, or that a filter passed over. */
    feed({ limit, after, ...query }) {
      const { shown, last, more } = pageOf(routings(sql, asked(asking, query, null), after), limit);
      const events = shown.map((row) => ({ ...viewed(row), position: row.position }));
      return { events, next: last?.position ?? after, more, completeSince };
    },
  };
}

type Filters = Omit<FeedQuery, 'limit' | 'after'>;

function asked(asking: Asking, query: Filters, before: EventPlace | null) {
  const { reference, arrived, webhookIds } = query;
  const values = valuesOf(query, before);
  return {
    ...asking,
    ...values,
    reference: escaped(reference),
    arrivals: arrived && JSON.stringify(arrivalsOf(arrived)),
    webhookIds: webhookIds && JSON.stringify(webhookIds),
    isAnswered: values.answer === null && values.errors === null ? null : 1,
  };
}

/** The narrowest list that has what is asked for: few events are not answered 2xx throughout. */
function listFor({ eventId, reference, arrived, status, errors }: Filters): string {
  if (eventId !== null) return withText('eventId');
  if (reference !== null) return withText('reference');
  const isInTrouble =
    (arrived !== null && arrived !== 'all') || errors !== null || (status !== null && status !== '2xx');
  return isInTrouble ? inTrouble(arrivalsOf(arrived)) : IN_ORDER;
}

function arrivalsOf(arrived: EventsQuery['arrived']): readonly number[] {
  return Object.values(ARRIVAL).filter((one) => arrived === null || arrivedOf(one) === arrived);
}

/** With the position behind each. */
function* routings(sql: Statements, asked: Readonly<Record<string, unknown>>, after: FeedPosition) {
  let position = after;
  for (let partition = -1; ; ) {
    const found = sql.row<{ next: number | null }>(NEXT_PARTITION, { ...asked, partition });
    if (typeof found?.next !== 'number') return;
    partition = found.next;
    const { offset, index } = after.get(partition) ?? { offset: -1, index: 0 };
    for (const row of sql.each<Routing>(ROUTINGS, { ...asked, partition, offset, index })) {
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
    ...{ eventId: event.eventId, eventType },
    ...{ arrived: arrivedOf(arrived), amount: unescaped(amount), reference: unescaped(reference) },
    sentTo: [...known, ...others].sort((one, other) => one.webhookId - other.webhookId),
  };
}
