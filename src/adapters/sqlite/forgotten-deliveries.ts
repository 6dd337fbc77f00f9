/** Deletes what the topic has lost: events with their deliveries, oldest first, some at a time. */
import { PER_EVENT } from './deliveries-view-schema.js';
import type { DeliveryCounters } from './delivery-counters.js';
import type { DeliveryRow } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';
import type { HashedIds } from './routed-events.js';
import { nextPartition, partitionsOf, type RoutedEvents } from './routed-events.js';
import type { WebhookHealths } from './webhook-health.js';

interface Parts {
  readonly events: RoutedEvents;
  readonly health: WebhookHealths;
  readonly counters: DeliveryCounters;
  readonly ids: HashedIds;
}

type Forgotten = Pick<DeliveryRow, 'account_id' | 'webhook_id' | 'state' | 'last_at'>;

/** As many as one call of add brings. */
const AT_ONCE = 250;

export class ForgottenDeliveries {
  readonly #sql: ReturnType<typeof statements>;
  readonly #parts: Parts;

  constructor(file: SqliteFile, parts: Parts) {
    this.#sql = statements(file);
    this.#parts = parts;
  }

  /** Call in a transaction. @param before ms since the epoch */
  forget(before: number): void {
    const { events, counters, ids } = this.#parts;
    const old = this.#sql.oldest.all(AT_ONCE, before) as { readonly row: number }[];
    for (const { row } of old) this.#forgetEvent(row, before);
    if (old.length > 0) this.#forgetFeed();
    if (old.length > 0) events.reload();
    ids.forget();
    counters.forget(before, AT_ONCE);
  }

  /** Routings begin with the oldest events, or nearly so: what is left goes with the next ones. */
  #forgetFeed(): void {
    for (const partition of partitionsOf(this.#sql.nextPartition)) this.#sql.deleteFeed.run(partition, 2 * AT_ONCE);
  }

  /** An event stays as long as one of its deliveries. */
  #forgetEvent(event: number, before: number): void {
    const range = [event * PER_EVENT, event * PER_EVENT + PER_EVENT - 1];
    const deliveries = this.#sql.deliveries.all(...range) as Forgotten[];
    const lastAt = Math.max(0, ...deliveries.map(({ last_at }) => last_at));
    if (lastAt >= before) {
      this.#sql.keep.run(lastAt, event);
      return;
    }
    for (const delivery of deliveries) this.#parts.health.forget(delivery);
    this.#sql.deleteDeliveries.run(...range);
    this.#sql.deleteResponses.run(...range);
    this.#sql.deleteEvent.run(event);
  }
}

function statements(file: SqliteFile) {
  return {
    oldest: file.prepare('SELECT row FROM (SELECT row, last_at FROM events ORDER BY row LIMIT ?) WHERE last_at < ?'),
    nextPartition: nextPartition(file),
    deleteFeed: file.prepare(
      `DELETE FROM feed WHERE (partition, block, account_id, offset, idx) IN (
         SELECT partition, block, account_id, offset, idx FROM feed WHERE partition = ?
         ORDER BY block, account_id, offset, idx LIMIT ?
       ) AND NOT EXISTS (SELECT 1 FROM events WHERE row = feed.event)`,
    ),
    keep: file.prepare('UPDATE events SET last_at = ? WHERE row = ?'),
    deliveries: file.prepare('SELECT account_id, webhook_id, state, last_at FROM deliveries WHERE row BETWEEN ? AND ?'),
    deleteDeliveries: file.prepare('DELETE FROM deliveries WHERE row BETWEEN ? AND ?'),
    deleteResponses: file.prepare('DELETE FROM responses WHERE row BETWEEN ? AND ?'),
    deleteEvent: file.prepare('DELETE FROM events WHERE row = ?'),
  };
}
