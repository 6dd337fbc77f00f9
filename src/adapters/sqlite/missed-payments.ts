/** Payments that webhooks missed. */
import type { MissedPlace, MissedQuery, NextMissed, RecoverableCount } from '../../ports/deliveries-view.js';
import { PER_EVENT } from './deliveries-view-schema.js';
import type { DeliveryIdOf } from './event-pages.js';
import type { SqliteFile } from './open-file.js';

interface MissedRow {
  readonly first_at: number;
  readonly payment: string;
  readonly webhook_id: number;
  readonly event_id: string;
  readonly event_source: string | null;
  readonly event_type: string;
}

export class MissedPayments {
  readonly #sql: ReturnType<typeof statements>;
  readonly #deliveryIdOf: DeliveryIdOf;

  constructor(file: SqliteFile, deliveryIdOf: DeliveryIdOf) {
    this.#sql = statements(file);
    this.#deliveryIdOf = deliveryIdOf;
  }

  count({ accountId, webhooks, since, until }: MissedQuery): RecoverableCount {
    return this.#sql.count.get(JSON.stringify(webhooks), accountId, since, until) as RecoverableCount;
  }

  next({ accountId, webhooks, since, until }: MissedQuery, after: MissedPlace | null): NextMissed {
    const { firstAt, payment, webhookId } = after ?? { firstAt: since, payment: '', webhookId: 0 };
    const place = [firstAt, payment, webhookId];
    const row = this.#sql.next.get(JSON.stringify(webhooks), accountId, since, until, ...place) as
      | MissedRow
      | undefined;
    if (!row) return { missed: null, reached: null };
    const reached = { firstAt: row.first_at, payment: row.payment, webhookId: row.webhook_id };
    const eventId = JSON.parse(row.event_id) as string;
    const eventSource = row.event_source === null ? null : (JSON.parse(row.event_source) as string);
    const deliveryId = this.#deliveryIdOf(accountId, { eventId, eventSource }, row.webhook_id);
    return { missed: { ...reached, deliveryId, eventId, eventSource, eventType: row.event_type }, reached };
  }
}

function statements(file: SqliteFile) {
  const missed = `FROM events CROSS JOIN json_each(?) AS asked
    WHERE account_id = ? AND first_at >= ? AND first_at < ? AND event_type = asked.value ->> 'eventType'
      AND webhooks IS NOT NULL AND NOT EXISTS (SELECT 1 FROM json_each(webhooks) WHERE value = asked.value ->> 'id')
      AND NOT EXISTS (
        SELECT 1 FROM deliveries WHERE row BETWEEN events.row * ${PER_EVENT} AND events.row * ${PER_EVENT} + ${PER_EVENT - 1}
          AND webhook_id = asked.value ->> 'id'
      )`;
  return {
    count: file.prepare(`SELECT count(*) AS count, min(first_at) AS oldest, max(first_at) AS newest ${missed}`),
    next: file.prepare(
      `SELECT first_at, payment, asked.value ->> 'id' AS webhook_id, event_id, event_source, event_type ${missed}
         AND (first_at, payment, asked.value ->> 'id') > (?, ?, ?) ORDER BY first_at, payment, webhook_id LIMIT 1`,
    ),
  };
}
