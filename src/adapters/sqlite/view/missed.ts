/** Payments that webhooks missed: of their type, routed, but not to them, and without a delivery to them. */
import type {
  MissedPayment,
  MissedPlace,
  MissedQuery,
  NextMissed,
  RecoverableCount,
} from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { parsed } from './attempt-row.js';
import { pageOf } from './bounded-page.js';
import type { DeliveryIdOf } from './event-pages.js';
import type { Columns } from './schema.js';

type Query = Omit<MissedQuery, 'accountId'>;

/** A payment and a webhook of its type. */
type Candidate = Columns<
  'first_at' | 'webhook_id' | 'is_missed',
  'payment' | 'event_id' | 'event_type',
  'event_source'
>;

export class MissedPayments {
  readonly #sql: ReturnType<typeof statements>;
  readonly #deliveryIdOf: DeliveryIdOf;

  constructor(file: SqliteFile, deliveryIdOf: DeliveryIdOf) {
    this.#sql = statements(file);
    this.#deliveryIdOf = deliveryIdOf;
  }

  count(accountId: number, query: Query): RecoverableCount {
    return this.#sql.count.get(asked(accountId, query, null)) as RecoverableCount;
  }

  /** Oldest first, and of a payment by webhook. @throws SyntaxError if the view is damaged */
  next(accountId: number, query: Query, after: MissedPlace | null): NextMissed {
    const rows = this.#sql.behind.iterate(asked(accountId, query, after)) as Iterable<Candidate>;
    const { shown, next } = pageOf(rows, 1, ({ is_missed }) => is_missed === 1);
    const [found] = shown;
    const reached = found ?? next;
    return { missed: found ? this.#missed(accountId, found) : null, reached: reached && placeOf(reached) };
  }

  #missed(accountId: number, row: Candidate): MissedPayment {
    const event = { eventId: JSON.parse(row.event_id) as string, eventSource: parsed(row.event_source) };
    const deliveryId = this.#deliveryIdOf(accountId, event, row.webhook_id);
    return { ...placeOf(row), ...event, eventType: row.event_type, deliveryId };
  }
}

function asked(accountId: number, { webhooks, since, until }: Query, after: MissedPlace | null) {
  const { firstAt, payment, webhookId } = after ?? { firstAt: since, payment: '', webhookId: 0 };
  const from = Math.max(since, firstAt);
  return { accountId, from, until, firstAt, payment, webhookId, webhooks: JSON.stringify(webhooks) };
}

function placeOf({ first_at: firstAt, payment, webhook_id: webhookId }: Candidate): MissedPlace {
  return { firstAt, payment, webhookId };
}

function statements(file: SqliteFile) {
  const candidates = `FROM events CROSS JOIN json_each(@webhooks) AS webhook
    WHERE account_id = @accountId AND first_at >= @from AND first_at < @until AND webhooks IS NOT NULL
      AND (first_at, payment) >= (@firstAt, @payment) AND event_type = webhook.value ->> 'eventType'
      AND (first_at, payment, webhook.value ->> 'id') > (@firstAt, @payment, @webhookId)`;
  const isMissed = `NOT EXISTS (
      SELECT 1 FROM deliveries WHERE event = events.row AND webhook_id = webhook.value ->> 'id'
    ) AND NOT EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE routed.value = webhook.value ->> 'id')`;
  return {
    count: file.prepare(
      `SELECT count(*) AS count, min(first_at) AS oldest, max(first_at) AS newest ${candidates} AND ${isMissed}`,
    ),
    behind: file.prepare(
      `SELECT first_at, payment, event_id, event_source, event_type, webhook.value ->> 'id' AS webhook_id,
         ${isMissed} AS is_missed ${candidates} ORDER BY first_at, payment, webhook_id`,
    ),
  };
}
