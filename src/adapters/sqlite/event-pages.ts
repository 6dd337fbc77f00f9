/** An account's events: pages by time, newest first, and the feed in the order of the topic. */
import type {
  Arrived,
  EventPlace,
  EventsPage,
  EventsQuery,
  FeedPage,
  FeedPosition,
  FeedQuery,
  ViewedEvent,
} from '../../ports/deliveries-view.js';
import { PER_EVENT } from './deliveries-view-schema.js';
import type { IsRemoved } from './delivery-pages.js';
import { MOST_PASSED, pageOf } from './delivery-pages.js';
import { type DeliveryRow, HELD, outcomeOf, removed } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';
import { feedBlockOf, HASHED, hashOf, NO_PLACE, nextPartition, partitionsOf } from './routed-events.js';

interface EventRow {
  readonly row: number;
  readonly first_at: number;
  readonly payment: string;
  /** As JSON, and so is the source. */
  readonly event_id: string;
  readonly event_source: string | null;
  readonly event_type: string;
  /** As JSON, of its `routed` entries; null: none came yet. */
  readonly webhooks: string | null;
}

interface FeedRow extends EventRow {
  readonly partition: number;
  readonly offset: number;
  readonly idx: number;
}

type SentTo = ViewedEvent['sentTo'][number];
type SentRow = Pick<DeliveryRow, 'webhook_id' | 'id' | 'state'>;

export type DeliveryIdOf = (
  accountId: number,
  event: { readonly eventId: string; readonly eventSource: string | null },
  webhookId: number,
) => string;

/** What the view does not have. */
export interface Beside {
  readonly deliveryIdOf: DeliveryIdOf;
  readonly isRemoved: IsRemoved;
}

const AT_ONCE = 64;
const OLDEST = Number.MIN_SAFE_INTEGER;
const NEWEST = Number.MAX_SAFE_INTEGER;

export class EventPages {
  readonly #sql: ReturnType<typeof statements>;
  readonly #deliveryIdOf: DeliveryIdOf;
  readonly #isRemoved: IsRemoved;

  constructor(file: SqliteFile, { deliveryIdOf, isRemoved }: Beside) {
    this.#sql = statements(file);
    this.#deliveryIdOf = deliveryIdOf;
    this.#isRemoved = isRemoved;
  }

  /** @throws SyntaxError if the view is damaged */
  page(query: EventsQuery): EventsPage {
    const { shown, next } = pageOf(this.#rows(query), query.limit, (row) => isAskedFor(row, query), placeOf);
    return { events: shown.map((row) => this.#viewed(query.accountId, row)), next, completeSince: null };
  }

  /** A reader's position in a partition advances only over routings that it was given, or that a filter passed over. */
  feed(query: FeedQuery): FeedPage {
    const { accountId, after, limit } = query;
    const next = new Map(after);
    const shown: { readonly row: FeedRow; readonly position: FeedPosition }[] = [];
    const page = (more: boolean) => ({
      events: shown.map(({ row, position }) => ({ ...this.#viewed(accountId, row), position })),
      next,
      more,
      completeSince: null,
    });
    let passed = 0;
    for (const row of this.#feedRows(accountId, after)) {
      const isShown = isInFeed(row, query);
      if (passed === MOST_PASSED || (isShown && shown.length === limit)) return page(true);
      next.set(row.partition, { offset: row.offset, index: row.idx });
      if (isShown) shown.push({ row, position: new Map(next) });
      else passed += 1;
    }
    return page(false);
  }

  *#feedRows(accountId: number, after: FeedPosition): Generator<FeedRow> {
    for (const partition of partitionsOf(this.#sql.nextPartition)) {
      const { offset, index } = after.get(partition) ?? { offset: -1, index: 0 };
      const asked = { partition, block: feedBlockOf(offset), accountId, offset, index };
      yield* this.#sql.feed.iterate(asked) as IterableIterator<FeedRow>;
    }
  }

  #rows(query: EventsQuery): Iterable<EventRow> {
    return query.eventId === null ? this.#inOrder(query) : this.#withId(query, JSON.stringify(query.eventId));
  }

  *#inOrder(query: EventsQuery): Generator<EventRow> {
    const { accountId, from, to } = query;
    let place = startOf(query);
    for (;;) {
      // SQLite takes one upper bound from the index, and passes over what is between it and the other.
      const until = Math.min(to ?? NEWEST, place.firstAt + 1);
      const bounds = [from ?? OLDEST, until, place.firstAt, place.payment];
      const rows = this.#sql.before.all(accountId, ...bounds, AT_ONCE) as EventRow[];
      yield* rows;
      const last = rows.at(-1);
      if (!last || rows.length < AT_ONCE) return;
      place = placeOf(last);
    }
  }

  /** Few events have one id. */
  #withId(query: EventsQuery, stored: string): readonly EventRow[] {
    const { accountId, from, to } = query;
    const rows = this.#sql.withId.all(hashOf(accountId, stored), accountId, stored) as EventRow[];
    const start = startOf(query);
    const isIn = (row: EventRow) => row.first_at >= (from ?? OLDEST) && row.first_at < (to ?? NEWEST);
    const isBehind = (row: EventRow) => compare(placeOf(row), start) < 0;
    return rows.filter((row) => isIn(row) && isBehind(row)).sort((one, other) => compare(placeOf(other), placeOf(one)));
  }

  #viewed(accountId: number, row: EventRow): ViewedEvent {
    const eventId = JSON.parse(row.event_id) as string;
    const sentTo = this.#sentTo(accountId, eventId, row);
    const about = { eventId, eventType: row.event_type, amount: null, reference: null };
    return { ...placeOf(row), ...about, arrived: arrivedOf(sentTo), sentTo };
  }

  #sentTo(accountId: number, eventId: string, row: EventRow): readonly SentTo[] {
    const [first, last] = [row.row * PER_EVENT, row.row * PER_EVENT + PER_EVENT - 1];
    const rows = this.#sql.sent.all(first, last) as SentRow[];
    const sent = rows.map((one) => sentTo(this.#isRemoved(accountId, one.webhook_id) ? removed(one) : one));
    const known = new Set(sent.map(({ webhookId }) => webhookId));
    const routed = (JSON.parse(row.webhooks ?? '[]') as number[]).filter((id) => !known.has(id));
    const eventSource = row.event_source === null ? null : (JSON.parse(row.event_source) as string);
    const others = routed.map((webhookId) => {
      const deliveryId = this.#deliveryIdOf(accountId, { eventId, eventSource }, webhookId);
      return { webhookId, deliveryId, outcome: null, held: false };
    });
    return [...sent, ...others].sort((one, other) => one.webhookId - other.webhookId);
  }
}

function sentTo({ webhook_id: webhookId, id: deliveryId, state }: SentRow): SentTo {
  return { webhookId, deliveryId, outcome: outcomeOf(state), held: state === HELD };
}

function arrivedOf(sentTo: readonly SentTo[]): Arrived {
  const delivered = sentTo.filter(({ outcome }) => outcome === 'delivered').length;
  if (sentTo.length === 0) return 'nobody';
  if (delivered === 0) return 'nowhere';
  return delivered === sentTo.length ? 'all' : 'part';
}

function isAskedFor({ payment, event_type }: EventRow, { eventType }: Pick<EventsQuery, 'eventType'>): boolean {
  return !payment.startsWith(NO_PLACE) && (eventType === null || event_type === eventType);
}

function isInFeed(row: FeedRow, query: FeedQuery): boolean {
  const { from, to, eventId } = query;
  if (row.first_at < (from ?? OLDEST) || row.first_at >= (to ?? NEWEST)) return false;
  return (eventId === null || row.event_id === JSON.stringify(eventId)) && isAskedFor(row, query);
}

function placeOf({ first_at: firstAt, payment }: EventRow): EventPlace {
  return { firstAt, payment };
}

function startOf({ before }: EventsQuery): EventPlace {
  return before ?? { firstAt: NEWEST, payment: '' };
}

/** SQLite compares texts by their bytes: places are ASCII. */
function compare(one: EventPlace, other: EventPlace): number {
  return one.firstAt - other.firstAt || (one.payment < other.payment ? -1 : Number(one.payment > other.payment));
}

function statements(file: SqliteFile) {
  const columns = ['row', 'first_at', 'payment', 'event_id', 'event_source', 'event_type', 'webhooks'];
  const select = `SELECT ${columns.map((name) => `events.${name}`).join()} FROM`;
  const within = 'account_id = ? AND first_at >= ? AND first_at < ?';
  return {
    before: file.prepare(
      `${select} events WHERE ${within} AND (first_at, payment) < (?, ?) ORDER BY first_at DESC, payment DESC LIMIT +?`,
    ),
    nextPartition: nextPartition(file),
    feed: file.prepare(
      // In the order of its loops: blocks one after the other, each in the order of its key.
      `WITH RECURSIVE blocks (n) AS (
         SELECT min(block) FROM feed WHERE partition = @partition AND block >= @block
         UNION ALL
         SELECT (SELECT min(block) FROM feed WHERE partition = @partition AND block > n) FROM blocks WHERE n IS NOT NULL
       )
       ${select.replace(' FROM', ', feed.partition, feed.offset, feed.idx FROM')} blocks
       CROSS JOIN feed ON feed.partition = @partition AND feed.block = blocks.n AND feed.account_id = @accountId
         AND (feed.offset, feed.idx) > (@offset, @index)
       CROSS JOIN events ON events.row = feed.event`,
    ),
    withId: file.prepare(
      `${select} ${HASHED} CROSS JOIN events ON events.row = hashed.row / ${PER_EVENT}
       WHERE hashed.row % ${PER_EVENT} = 0 AND account_id = ? AND event_id = ?`,
    ),
    sent: file.prepare('SELECT webhook_id, id, state FROM deliveries WHERE row BETWEEN ? AND ?'),
  };
}
