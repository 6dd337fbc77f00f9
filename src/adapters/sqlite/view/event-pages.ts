/** An account's events: pages by time, newest first, and the feed in the order of the topic. */
import type {
  EventPlace,
  EventsQuery,
  FeedPage,
  FeedPosition,
  FeedQuery,
  ViewedEvent,
} from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { parsed } from './attempt-row.js';
import { MOST_PASSED, MOST_WITH_ID, NEWEST, OLDEST, pageOf } from './bounded-page.js';
import { type DeliveryCandidate, isAnswered } from './delivery-pages.js';
import { outcomeOf, STATE } from './delivery-row.js';
import { ARRIVAL, arrivedOf, type EventRow, NO_PLACE, routedIn } from './event-row.js';
import { blocksOf } from './schema.js';
import { type IsRemoved, shownState } from './shown-delivery.js';

type StoredEvent = EventRow & { readonly row: number; readonly arrived: number };
type RoutedEvent = StoredEvent & { readonly partition: number; readonly offset: number; readonly idx: number };

type SentRow = Pick<DeliveryCandidate, 'webhook_id' | 'id' | 'state' | 'answer' | 'error'>;

export type DeliveryIdOf = (
  accountId: number,
  event: { readonly eventId: string; readonly eventSource: string | null },
  webhookId: number,
) => string;

type Query = Omit<EventsQuery, 'accountId'>;
type OfFeed = Omit<FeedQuery, 'accountId'>;
type SentTo = ViewedEvent['sentTo'][number];

const IN_TROUBLE = [ARRIVAL.nobody, ARRIVAL.nowhere, ARRIVAL.part, ARRIVAL.refused];

export class EventPages {
  readonly #sql: ReturnType<typeof statements>;
  readonly #deliveryIdOf: DeliveryIdOf;

  constructor(file: SqliteFile, deliveryIdOf: DeliveryIdOf) {
    this.#sql = statements(file);
    this.#deliveryIdOf = deliveryIdOf;
  }

  /** @throws SyntaxError if the view is damaged */
  page(accountId: number, query: Query, isRemoved: IsRemoved) {
    const { shown, next } = pageOf(this.#rows(accountId, query), query.limit, (row) => this.#isAskedFor(row, query));
    return { events: shown.map((row) => this.#viewed(row, isRemoved)), next: next && placeOf(next) };
  }

  /** A reader's position in a partition advances only over routings that it was given, or that a filter passed over. */
  feed(accountId: number, query: OfFeed, isRemoved: IsRemoved): Omit<FeedPage, 'completeSince'> {
    const { after, limit } = query;
    const next = new Map(after);
    const shown: { readonly row: RoutedEvent; readonly position: FeedPosition }[] = [];
    const page = (more: boolean) => ({
      events: shown.map(({ row, position }) => ({ ...this.#viewed(row, isRemoved), position })),
      next,
      more,
    });
    let passed = 0;
    for (const row of this.#routings(accountId, after)) {
      const isShown = this.#isInFeed(row, query);
      if (passed === MOST_PASSED || (isShown && shown.length === limit)) return page(true);
      next.set(row.partition, { offset: row.offset, index: row.idx });
      if (isShown) shown.push({ row, position: new Map(next) });
      else passed += 1;
    }
    return page(false);
  }

  *#routings(accountId: number, after: FeedPosition): Generator<RoutedEvent> {
    for (const partition of this.#sql.partitions.all({ accountId }) as number[]) {
      const { offset, index } = after.get(partition) ?? { offset: -1, index: 0 };
      const asked = { accountId, partition, offset, index };
      yield* this.#sql.feed.iterate(asked) as IterableIterator<RoutedEvent>;
    }
  }

  #rows(accountId: number, query: Query): Iterable<StoredEvent> {
    const { eventId, reference, from } = query;
    const asked = { accountId, from: from ?? OLDEST, ...endOf(query) };
    if (eventId !== null) return this.#read('withId', { ...asked, text: JSON.stringify(eventId) });
    if (reference !== null) return this.#read('withReference', { ...asked, text: JSON.stringify(reference) });
    return isForTrouble(query)
      ? this.#read('inTrouble', { ...asked, ...arrivals(query) })
      : this.#read('inOrder', asked);
  }

  #read(by: 'withId' | 'withReference' | 'inTrouble' | 'inOrder', asked: object): Iterable<StoredEvent> {
    return this.#sql[by].iterate(asked) as Iterable<StoredEvent>;
  }

  #isInFeed(row: RoutedEvent, query: OfFeed): boolean {
    const { from, to, eventId, reference } = query;
    if (row.first_at < (from ?? OLDEST) || row.first_at >= (to ?? NEWEST)) return false;
    if (eventId !== null && row.event_id !== JSON.stringify(eventId)) return false;
    return (reference === null || row.reference === JSON.stringify(reference)) && this.#isAskedFor(row, query);
  }

  #isAskedFor(row: StoredEvent, query: Query | OfFeed): boolean {
    const { eventType, arrived, webhookIds, status, errors, reference } = query;
    if (row.payment.startsWith(NO_PLACE)) return false;
    if (eventType !== null && row.event_type !== eventType) return false;
    if (reference !== null && row.reference !== JSON.stringify(reference)) return false;
    if (arrived !== null && arrivedOf(row.arrived) !== arrived) return false;
    if (webhookIds === null && status === null && errors === null) return true;
    const sent = this.#sent(row);
    const isTo = (id: number) => webhookIds === null || webhookIds.includes(id);
    const isSent = sent.some(({ webhook_id }) => isTo(webhook_id)) || routedIn(row).some(isTo);
    return isSent && (status === null && errors === null ? true : sent.some((one) => isAnswered(one, query)));
  }

  #viewed(row: StoredEvent, isRemoved: IsRemoved): ViewedEvent {
    return {
      ...placeOf(row),
      eventId: JSON.parse(row.event_id) as string,
      eventType: row.event_type,
      arrived: arrivedOf(row.arrived),
      amount: parsed(row.amount),
      reference: parsed(row.reference),
      sentTo: this.#sentTo(row, isRemoved),
    };
  }

  #sentTo(row: StoredEvent, isRemoved: IsRemoved): readonly SentTo[] {
    const sent = this.#sent(row).map((one) => sentTo(one, isRemoved));
    const known = new Set(sent.map(({ webhookId }) => webhookId));
    const event = { eventId: JSON.parse(row.event_id) as string, eventSource: parsed(row.event_source) };
    const others = routedIn(row).flatMap((webhookId) => {
      if (known.has(webhookId)) return [];
      const deliveryId = this.#deliveryIdOf(row.account_id, event, webhookId);
      return { webhookId, deliveryId, outcome: null, held: false };
    });
    return [...sent, ...others].sort((one, other) => one.webhookId - other.webhookId);
  }

  #sent({ row }: StoredEvent): readonly SentRow[] {
    return this.#sql.sent.all(row) as SentRow[];
  }
}

function sentTo({ webhook_id: webhookId, id: deliveryId, state }: SentRow, isRemoved: IsRemoved): SentTo {
  const shown = shownState(state, isRemoved(webhookId));
  return { webhookId, deliveryId, outcome: outcomeOf(shown), held: shown === STATE.held };
}

/** Whether nearly all of what has arrived is left out: what was answered 2xx throughout. */
function isForTrouble({ arrived, status, errors }: Query): boolean {
  return (arrived !== null && arrived !== 'all') || errors !== null || (status !== null && status !== '2xx');
}

/** An arm of what is not asked for has nothing. */
function arrivals({ arrived }: Query): Readonly<Record<string, number | null>> {
  const isIn = (one: number) => arrived === null || arrivedOf(one) === arrived;
  return Object.fromEntries(IN_TROUBLE.map((one) => [`arrived${one}`, isIn(one) ? one : null]));
}

function placeOf({ first_at: firstAt, payment }: StoredEvent): EventPlace {
  return { firstAt, payment };
}

function endOf({ before, to }: Query) {
  const { firstAt, payment } = before ?? { firstAt: NEWEST, payment: '' };
  return to !== null && to <= firstAt ? { firstAt: to, payment: '' } : { firstAt, payment };
}

function statements(file: SqliteFile) {
  const within = 'account_id = @accountId AND first_at >= @from AND (first_at, payment) < (@firstAt, @payment)';
  const newestFirst = 'ORDER BY first_at DESC, payment DESC';
  const arm = (arrived: number) =>
    `SELECT * FROM events WHERE arrived = @arrived${arrived} AND arrived <> ${ARRIVAL.all} AND ${within}`;
  const withText = (column: string) => `
    SELECT * FROM (
      SELECT events.* FROM ${blocksOf('events')}
      CROSS JOIN events ON events.row >> 13 = blocks.n AND account_id = @accountId AND ${column} = @text
      LIMIT ${MOST_WITH_ID}
    ) WHERE ${within} ${newestFirst}`;
  return {
    inOrder: file.prepare(`SELECT * FROM events WHERE ${within} ${newestFirst}`),
    inTrouble: file.prepare(`${IN_TROUBLE.map(arm).join(' UNION ALL ')} ${newestFirst}`),
    withId: file.prepare(withText('event_id')),
    withReference: file.prepare(withText('reference')),
    partitions: file
      .prepare(
        `WITH RECURSIVE found (partition) AS (
           SELECT min(partition) FROM routings WHERE account_id = @accountId
           UNION ALL
           SELECT (SELECT min(partition) FROM routings WHERE account_id = @accountId AND partition > found.partition)
           FROM found WHERE partition IS NOT NULL
         )
         SELECT partition FROM found WHERE partition IS NOT NULL`,
      )
      .pluck(),
    feed: file.prepare(
      `SELECT partition, offset, idx, events.* FROM routings CROSS JOIN events ON events.row = routings.event
       WHERE routings.account_id = @accountId AND partition = @partition AND (offset, idx) > (@offset, @index)
       ORDER BY offset, idx`,
    ),
    sent: file.prepare(
      'SELECT webhook_id, id, state, answer, error FROM deliveries WHERE event = ? ORDER BY webhook_id, id',
    ),
  };
}
