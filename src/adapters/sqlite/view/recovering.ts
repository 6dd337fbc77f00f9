/** What a recovery sends: deliveries that can be sent again, payments that webhooks missed; and what became of them. */
import type {
  MissedPlace,
  MissedQuery,
  RecoverableCount,
  RecoverableQuery,
  RecoveryProgress,
  Undelivered,
  ViewQueries,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { type Candidate, deliveryList, detail, inStates, placeOf } from './delivery-pages.js';
import { STATE } from './delivery-row.js';
import type { DeliveryIdOf } from './event-pages.js';
import type { EventRow } from './event-row.js';
import { type Asking, isIn, list, OF_ACCOUNT, pageOf, type Source } from './lists.js';
import { unescaped } from './schema.js';

const STATES_OF: { readonly [Of in Undelivered]: number } = STATE;

const counted = ({ from, where }: Source) => `SELECT count(*) AS count, min(firstAt) AS oldest, max(firstAt) AS newest
  FROM ${from} WHERE ${where} AND firstAt >= @since AND firstAt < @until`;
const COUNT_RECOVERABLE = counted({
  from: 'deliveries',
  where: `accountId = @accountId AND ${isIn('webhookId', 'webhookIds')} AND ${isIn('state', 'states')}`,
});
const IS_NEXT = `${isIn('webhookId', 'webhookIds')} AND NOT EXISTS (SELECT 1 FROM requests
  WHERE delivery = deliveries.row AND recovery = @recovery)`;

const id = "webhook.value ->> 'id'";
/** Payments of the type that were routed, each with every webhook of the type. */
const TO_MISS: Source = {
  from: `events CROSS JOIN json_each(@webhooks) AS webhook`,
  where: `${OF_ACCOUNT.where} AND webhooks IS NOT NULL AND eventType = webhook.value ->> 'eventType'`,
};
const IS_MISSED = `NOT EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND webhookId = ${id})
  AND NOT EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE routed.value = ${id})`;
const COUNT_MISSED = `${counted(TO_MISS)} AND ${IS_MISSED}`;
const MISSED = list('events.row', [TO_MISS], {
  ties: { payment: 'payment', webhookId: id },
  isShown: IS_MISSED,
  is: '>',
});

const PROGRESS = `SELECT count(*) AS sent, count(*) FILTER (WHERE state < ${STATE.retrying}) AS delivered,
    count(*) FILTER (WHERE state > ${STATE.retrying}) AS failed
  FROM requests WHERE accountId = ? AND recovery = ?`;

type Missed = MissedPlace & Readonly<Record<'row' | 'isShown', number>>;
type Names = 'recoverableCount' | 'nextRecoverable' | 'missedCount' | 'nextMissed' | 'recovery';

export function recoveryQueries(sql: Statements, asking: Asking, deliveryIdOf: DeliveryIdOf): Pick<ViewQueries, Names> {
  const { accountId } = asking;
  const idOf = ({ row, webhookId }: Missed) => {
    const event = sql.row<EventRow>('SELECT * FROM events WHERE row = ?', [row]) as EventRow;
    const { eventId, eventSource } = event;
    return deliveryIdOf(accountId, { eventId: unescaped(eventId), eventSource: unescaped(eventSource) }, webhookId);
  };
  return {
    recoverableCount: ({ webhookIds, include, ...period }) =>
      sql.row(COUNT_RECOVERABLE, { accountId, ...period, ...recoverable({ webhookIds, include }) }) as RecoverableCount,
    nextRecoverable({ since, until, include, webhookIds }, recovery, after) {
      const text = deliveryList(inStates(statesOf(include), 'state <> 0'), IS_NEXT, '>');
      const place = behind(after ?? { firstAt: since, payment: '', id: '' }, { since, until });
      const asked = { accountId, recovery, ...recoverable({ webhookIds, include }), ...place };
      const { found, reached } = nextIn(sql.each<Candidate>(text, asked));
      const delivery = found && { ...detail(sql, found.row, { ...asking, own: null }), responses: new Map() };
      return { delivery, reached: reached && placeOf(reached) };
    },
    missedCount: ({ webhooks, ...period }) =>
      sql.row(COUNT_MISSED, { accountId, ...period, webhooks: JSON.stringify(webhooks) }) as RecoverableCount,
    nextMissed({ webhooks, ...period }, after) {
      const place = behind(after ?? { firstAt: period.since, payment: '', webhookId: 0 }, period);
      const asked = { accountId, webhooks: JSON.stringify(webhooks), ...place };
      const { found, reached } = nextIn(sql.each<Missed>(MISSED, asked));
      return {
        missed: found && { ...missedAt(found), deliveryId: idOf(found) },
        reached: reached && missedAt(reached),
      };
    },
    recovery: (recoveryId) => sql.row(PROGRESS, [accountId, recoveryId]) as RecoveryProgress,
  };
}

function behind<Place extends { readonly firstAt: number }>(
  place: Place,
  { since, until }: Pick<MissedQuery, 'since' | 'until'>,
) {
  return { ...place, from: Math.max(since, place.firstAt), most: until - 1 };
}

function nextIn<Row extends { readonly isShown: number }>(rows: Iterable<Row>) {
  const { shown, last, more } = pageOf(rows, 1);
  const found = shown[0] ?? null;
  return { found, reached: found ?? (more ? last : null) };
}

function recoverable({ webhookIds, include }: Pick<RecoverableQuery, 'webhookIds' | 'include'>) {
  return { webhookIds: JSON.stringify(webhookIds), states: JSON.stringify(statesOf(include)) };
}

function statesOf(include: RecoverableQuery['include']): readonly number[] {
  return include.map((one) => STATES_OF[one]);
}

function missedAt({ firstAt, payment, webhookId }: MissedPlace): MissedPlace {
  return { firstAt, payment, webhookId };
}
