/** What a recovery sends: deliveries that can be sent again, payments that webhooks missed; and what became of them. */
import type {
  MissedPayment,
  MissedPlace,
  MissedQuery,
  RecoverableCount,
  RecoverableQuery,
  RecoveryProgress,
  Undelivered,
  ViewQueries,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { type Asking, isIn, pageOf } from './asking.js';
import { type Candidate, detail, inStates, placeOf } from './delivery-pages.js';
import { STATE } from './delivery-row.js';
import type { DeliveryIdOf } from './event-pages.js';
import { type Row, unescaped } from './schema.js';

const STATES_OF: { readonly [Of in Undelivered]: number } = STATE;

const COUNTED = 'SELECT count(*) AS count, min(firstAt) AS oldest, max(firstAt) AS newest';
const COUNT_RECOVERABLE = `${COUNTED} FROM deliveries WHERE accountId = @accountId AND ${isIn('webhookId', 'webhookIds')}
  AND ${isIn('state', 'states')} AND firstAt >= @since AND firstAt < @until`;
const IS_NEXT = `${isIn('webhookId', 'webhookIds')} AND NOT EXISTS (SELECT 1 FROM recovered
  WHERE recovered.accountId = @accountId AND recovery = @recovery AND delivery = deliveries.row)`;

const id = "webhook.value ->> 'id'";
/** Payments of the type that were routed, each with every webhook of the type. */
const TO_MISS = `FROM events CROSS JOIN json_each(@webhooks) AS webhook
  WHERE accountId = @accountId AND firstAt >= @from AND firstAt < @until AND webhooks IS NOT NULL
    AND (firstAt, payment) >= (@firstAt, @payment) AND eventType = webhook.value ->> 'eventType'
    AND (firstAt, payment, ${id}) > (@firstAt, @payment, @webhookId)`;
const IS_MISSED = `NOT EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND webhookId = ${id})
  AND NOT EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE routed.value = ${id})`;
const COUNT_MISSED = `${COUNTED} ${TO_MISS} AND ${IS_MISSED}`;
const MISSED = `SELECT firstAt, payment, ${id} AS webhookId, eventId, eventSource, ${IS_MISSED} AS isShown ${TO_MISS}
  ORDER BY firstAt, payment, webhookId`;

const PROGRESS = `SELECT count(*) AS sent, count(*) FILTER (WHERE state < ${STATE.retrying}) AS delivered,
    count(*) FILTER (WHERE state > ${STATE.retrying}) AS failed
  FROM recovered WHERE accountId = ? AND recovery = ?`;

type Missed = MissedPlace & Row<'isShown', 'eventId', 'eventSource'>;

type Names = 'recoverableCount' | 'nextRecoverable' | 'missedCount' | 'nextMissed' | 'recovery';

export function recoveryQueries(sql: Statements, asking: Asking, deliveryIdOf: DeliveryIdOf): Pick<ViewQueries, Names> {
  const { accountId } = asking;
  const counted = (text: string, values: object) => sql.row(text, { accountId, ...values }) as RecoverableCount;
  return {
    recoverableCount: (query) => counted(COUNT_RECOVERABLE, recoverable(query)),
    nextRecoverable(query, recovery, after) {
      const { since, until, include } = query;
      const place = after ?? { firstAt: since, id: '', payment: '' };
      const bounds = { from: Math.max(since, place.firstAt), most: until - 1 };
      const text = inStates(statesOf(include), { where: 'state <> 0', is: '>', isShown: IS_NEXT });
      const asked = { ...place, accountId, recovery, ...recoverable(query), ...bounds };
      const { found, reached } = nextIn(sql.each<Candidate>(text, asked));
      const delivery = found && { ...detail(sql, found.row, { ...asking, own: null }), responses: new Map() };
      return { delivery, reached: reached && placeOf(reached) };
    },
    missedCount: (query) => counted(COUNT_MISSED, missed(query, null)),
    nextMissed(query, after) {
      const { found, reached } = nextIn(sql.each<Missed>(MISSED, { accountId, ...missed(query, after) }));
      return { missed: found && missedOf(found, accountId, deliveryIdOf), reached: reached && missedAt(reached) };
    },
    recovery: (recoveryId) => sql.row(PROGRESS, [accountId, recoveryId]) as RecoveryProgress,
  };
}

function nextIn<Row extends { readonly isShown: number }>(rows: Iterable<Row>) {
  const { shown, last, more } = pageOf(rows, 1);
  const found = shown[0] ?? null;
  return { found, reached: found ?? (more ? last : null) };
}

function recoverable({ webhookIds, include, since, until }: RecoverableQuery) {
  const states = JSON.stringify(statesOf(include));
  return { webhookIds: JSON.stringify(webhookIds), states, since, until };
}

function statesOf(include: RecoverableQuery['include']): readonly number[] {
  return include.map((one) => STATES_OF[one]);
}

function missed({ webhooks, since, until }: MissedQuery, after: MissedPlace | null) {
  const place = after ?? { firstAt: since, payment: '', webhookId: 0 };
  return { webhooks: JSON.stringify(webhooks), from: Math.max(since, place.firstAt), until, ...missedAt(place) };
}

function missedOf(row: Missed, accountId: number, deliveryIdOf: DeliveryIdOf): MissedPayment {
  const event = { eventId: unescaped(row.eventId), eventSource: unescaped(row.eventSource) };
  return { ...missedAt(row), deliveryId: deliveryIdOf(accountId, event, row.webhookId) };
}

function missedAt({ firstAt, payment, webhookId }: MissedPlace): MissedPlace {
  return { firstAt, payment, webhookId };
}
