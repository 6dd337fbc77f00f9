/**
 * The payments of an account: an event is known from the `routed` entry of its payment's record, or from the first entry of
 * a delivery, whichever comes first. Also their ids' index, and how deliveries are forgotten.
 */
import { crc32 } from 'node:zlib';
import type { ViewEntry, ViewRouting } from '../../ports/deliveries-view.js';
import { FEED_BLOCK, PER_EVENT } from './deliveries-view-schema.js';
import type { DeliveryRow } from './delivery-row.js';
import type { SqliteFile, SqliteStatement } from './open-file.js';

interface KnownEvent {
  readonly row: number;
  /** The number that its next delivery gets. */
  next: number;
}

type Lost = Pick<DeliveryRow, 'account_id' | 'webhook_id' | 'state' | 'last_at'>;
type Key = readonly [accountId: number, firstAt: number, payment: string];
/** Webhooks and source as JSON, and when the entry was published. */
type Routed = readonly [webhooks: string | null, source: string | null, at: number | null];

/** Events of a part of the index of ids. */
const BLOCK = 1_024;
/** Deliveries follow soon after their routing: for these the event's row is not searched. */
const MOST_KNOWN = 20_000;
/** As many as one call of add brings. */
export const FORGOTTEN_AT_ONCE = 250;
/** Begins the key of an event whose payment has no known place. No place begins so. */
export const NO_PLACE = '?';

export class RoutedEvents {
  readonly #sql: ReturnType<typeof statements>;
  readonly #ids: HashedIds;
  readonly #known = new Map<string, KnownEvent>();

  constructor(file: SqliteFile, ids: HashedIds) {
    this.#sql = statements(file);
    this.#ids = ids;
  }

  /** Call after a transaction that failed. */
  reload(): void {
    this.#known.clear();
  }

  /** A record has one routed entry for each time that it was handed out: the webhooks of all of them count. */
  addRouting(routing: ViewRouting): void {
    const { accountId, webhooks, place, index } = routing;
    const source = sourceOf(routing);
    const { event, isNew } = this.#found(routing, [JSON.stringify(webhooks), source, place.timestamp]);
    // Each routing: a view that kept only the first one that it saw would place the event elsewhere than another view.
    this.#sql.feed.run(place.partition, feedBlockOf(place.offset), accountId, place.offset, index, event.row);
    if (isNew) return;
    const { webhooks: routed } = this.#sql.routing.get(event.row) as { readonly webhooks: string | null };
    const before = routed === null ? [] : (JSON.parse(routed) as number[]);
    const all = JSON.stringify([...new Set([...before, ...webhooks])]);
    this.#sql.route.run(all, source, place.timestamp, place.timestamp, event.row);
  }

  of(entry: ViewEntry): KnownEvent {
    return this.#found(entry, [null, sourceOf(entry), null]).event;
  }

  /** Deletes what the topic has lost, oldest events first, some at a time. @param before ms since the epoch */
  forget(before: number, lost: (delivery: Lost) => void): void {
    const old = this.#sql.oldest.all(FORGOTTEN_AT_ONCE, before) as { readonly row: number }[];
    for (const { row } of old) this.#forgetEvent(row, before, lost);
    if (old.length > 0) this.#forgetFeed();
    if (old.length > 0) this.reload();
    this.#ids.forget();
  }

  /** Routings begin with the oldest events, or nearly so: what is left goes with the next ones. */
  #forgetFeed(): void {
    for (const partition of partitionsOf(this.#sql.nextPartition)) {
      this.#sql.deleteFeed.run(partition, 2 * FORGOTTEN_AT_ONCE);
    }
  }

  /** An event stays as long as one of its deliveries. */
  #forgetEvent(event: number, before: number, lost: (delivery: Lost) => void): void {
    const range = [event * PER_EVENT, event * PER_EVENT + PER_EVENT - 1];
    const deliveries = this.#sql.deliveries.all(...range) as Lost[];
    const lastAt = Math.max(0, ...deliveries.map(({ last_at }) => last_at));
    if (lastAt >= before) {
      this.#sql.keep.run(lastAt, event);
      return;
    }
    for (const delivery of deliveries) lost(delivery);
    this.#sql.deleteDeliveries.run(...range);
    this.#sql.deleteResponses.run(...range);
    this.#sql.deleteRecovered.run(...range);
    this.#sql.deleteEvent.run(event);
  }

  #found(entry: ViewRouting | ViewEntry, routed: Routed): { readonly event: KnownEvent; readonly isNew: boolean } {
    const key = keyOf(entry);
    const text = key.join(' ');
    const known = this.#known.get(text);
    if (known) return { event: known, isNew: false };
    const added = this.#added(entry, key, routed);
    const event = added ?? (this.#sql.find.get(...key) as KnownEvent);
    this.#remember(text, event);
    return { event, isNew: added !== null };
  }

  /** Null if it is there. */
  #added(
    { accountId, eventId, eventType, place }: ViewRouting | ViewEntry,
    key: Key,
    routed: Routed,
  ): KnownEvent | null {
    const stored = JSON.stringify(eventId);
    const added = this.#sql.add.run(...key, stored, eventType, ...routed, place.timestamp);
    if (added.changes === 0) return null;
    const row = Number(added.lastInsertRowid);
    this.#ids.add(accountId, stored, row * PER_EVENT);
    return { row, next: 1 };
  }

  #remember(text: string, known: KnownEvent): void {
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(text, known);
  }
}

/** For FROM: the numbers of the rows with the hash. */
export const HASHED = `(
  WITH RECURSIVE blocks (n) AS (
    SELECT max(block) FROM hashes
    UNION ALL SELECT n - 1 FROM blocks WHERE n > (SELECT min(block) FROM hashes)
  )
  SELECT hashes.row FROM blocks CROSS JOIN hashes ON hashes.block = blocks.n AND hashes.hash = ?
) AS hashed`;

export function hashOf(accountId: number, id: string): number {
  return crc32(`${accountId} ${id}`);
}

/**
 * Finds events and deliveries of any age by their ids. The index has a part for each block of events: only the newest part,
 * which is small, changes, and a search looks into each. A hash may stand for several ids: the caller compares them.
 */
export class HashedIds {
  readonly #add: SqliteStatement;
  readonly #forget: SqliteStatement;

  constructor(file: SqliteFile) {
    this.#add = file.prepare('INSERT OR IGNORE INTO hashes (block, hash, row) VALUES (?, ?, ?)');
    this.#forget = file.prepare(
      `DELETE FROM hashes WHERE block < coalesce((SELECT min(row) FROM events) / ${BLOCK}, ${Number.MAX_SAFE_INTEGER})`,
    );
  }

  /** @param row of a delivery, or of an event: its number times PER_EVENT */
  add(accountId: number, id: string, row: number): void {
    this.#add.run(Math.floor(row / (BLOCK * PER_EVENT)), hashOf(accountId, id), row);
  }

  /** Blocks whose events are all forgotten. */
  forget(): void {
    this.#forget.run();
  }
}

export function feedBlockOf(offset: number): number {
  return Math.floor(offset / FEED_BLOCK);
}

/** The partitions that have routings. @param next nextPartition */
export function partitionsOf(next: ReturnType<typeof nextPartition>): readonly number[] {
  const found: number[] = [];
  for (let partition: number | null = -1; ; found.push(partition)) {
    partition = next.get(partition) as number | null;
    if (partition === null) return found;
  }
}

export function nextPartition(file: SqliteFile) {
  return file.prepare('SELECT min(partition) FROM feed WHERE partition > ?').pluck();
}

function sourceOf({ eventSource }: ViewRouting | ViewEntry): string | null {
  return eventSource === null ? null : JSON.stringify(eventSource);
}

function keyOf({ accountId, firstAt, eventId, payment }: ViewRouting | ViewEntry): Key {
  return [accountId, firstAt, payment ?? NO_PLACE + JSON.stringify(eventId)];
}

function statements(file: SqliteFile) {
  const key = 'account_id = ? AND first_at = ? AND payment = ?';
  const last = `(SELECT max(row) FROM deliveries
    WHERE row BETWEEN events.row * ${PER_EVENT} AND events.row * ${PER_EVENT} + ${PER_EVENT - 1})`;
  return {
    add: file.prepare(
      `INSERT INTO events (account_id, first_at, payment, event_id, event_type, webhooks, event_source, routed_at, last_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    feed: file.prepare(
      'INSERT OR IGNORE INTO feed (partition, block, account_id, offset, idx, event) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    find: file.prepare(`SELECT row, coalesce(${last} - row * ${PER_EVENT}, 0) + 1 AS next FROM events WHERE ${key}`),
    routing: file.prepare('SELECT webhooks FROM events WHERE row = ?'),
    route: file.prepare(
      `UPDATE events SET webhooks = ?, event_source = ?, routed_at = min(coalesce(routed_at, ?), ?) WHERE row = ?`,
    ),
    oldest: file.prepare('SELECT row FROM (SELECT row, last_at FROM events ORDER BY row LIMIT +?) WHERE last_at < ?'),
    nextPartition: nextPartition(file),
    deleteFeed: file.prepare(
      `DELETE FROM feed WHERE (partition, block, account_id, offset, idx) IN (
         SELECT partition, block, account_id, offset, idx FROM feed WHERE partition = ?
         ORDER BY block, account_id, offset, idx LIMIT +?
       ) AND NOT EXISTS (SELECT 1 FROM events WHERE row = feed.event)`,
    ),
    keep: file.prepare('UPDATE events SET last_at = ? WHERE row = ?'),
    deliveries: file.prepare('SELECT account_id, webhook_id, state, last_at FROM deliveries WHERE row BETWEEN ? AND ?'),
    deleteDeliveries: file.prepare('DELETE FROM deliveries WHERE row BETWEEN ? AND ?'),
    deleteResponses: file.prepare('DELETE FROM responses WHERE row BETWEEN ? AND ?'),
    deleteRecovered: file.prepare('DELETE FROM recovered WHERE row BETWEEN ? AND ?'),
    deleteEvent: file.prepare('DELETE FROM events WHERE row = ?'),
  };
}
