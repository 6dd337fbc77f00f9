/** What a recovery sends: deliveries that can be sent again, payments that webhooks missed; and what became of them. */
import type { ListPlace, RecoverableCount, RecoverableQuery, ViewQueries } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { DELIVERIES, deliveryIn, inStates } from './delivery-pages.js';
import { STATE } from './delivery-row.js';
import { eventIn } from './event-pages.js';
import type { EventRow } from './event-row.js';
import { type Asking, isIn, type List, listed, OF_ACCOUNT, placeOf, type Source } from './lists.js';
import { unescaped } from './schema.js';

const statesOf = ({ include }: RecoverableQuery) => include.map((one) => STATE[one]);

const counted = (from: string, where: string) => `
  SELECT count(*) AS count, min(firstAt) AS oldest, max(firstAt) AS newest
  FROM ${from} WHERE ${where} AND firstAt >= @since AND firstAt < @until`;
const COUNT_RECOVERABLE = counted(
  'deliveries',
  `accountId = @accountId AND ${isIn('webhookId', 'webhookIds')} AND ${isIn('state', 'states')}`,
);
const IS_NEXT = `${isIn('webhookId', 'webhookIds')} AND NOT EXISTS (SELECT 1 FROM requests
  WHERE delivery = deliveries.row AND recovery = @recovery)`;

const id = "webhook.value ->> 'id'";
/** Payments of the type that were routed, each with every webhook of the type. */
const TO_MISS: Source = {
  ...OF_ACCOUNT,
  from: `events CROSS JOIN json_each(@webhooks) AS webhook`,
  where: `${OF_ACCOUNT.where} AND routedAt IS NOT NULL AND eventType = webhook.value ->> 'eventType'`,
};
const IS_MISSED = `NOT EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND webhookId = ${id})
  AND NOT EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE routed.value = ${id})`;
const PARTITION = `rtrim(payment, '-@0123456789')`;
const IS_KEPT = `CAST(substr(payment, length(${PARTITION}) + 1) AS INTEGER) >= ifnull(@kept ->> ${PARTITION}, 0)`;
const COUNT_MISSED = counted(TO_MISS.from, `${TO_MISS.where} AND ${IS_MISSED} AND ${IS_KEPT}`);
const MISSED: List = { row: 'events.row', sources: [TO_MISS], tie: id, isShown: IS_MISSED, is: '>' };

const PROGRESS = `SELECT count(*) AS sent, count(*) FILTER (WHERE state < ${STATE.retrying}) AS delivered,
    count(*) FILTER (WHERE state > ${STATE.retrying}) AS failed
  FROM requests WHERE accountId = ? AND recovery = ?`;

type Period = Pick<RecoverableQuery, 'since' | 'until'> & Readonly<Record<string, unknown>>;
type Names = 'recoverableCount' | 'nextRecoverable' | 'missedCount' | 'nextMissed' | 'recovery';

export function recoveryQueries(sql: Statements, asking: Asking): Pick<ViewQueries, Names> {
  const { accountId, completeSince } = asking;
  /** The first that is asked for, and the place up to which rows were looked at for it; null: there is nothing behind. */
  const first = (list: List, asked: Period, after: ListPlace | null) => {
    const place = after ?? { firstAt: asked.since, payment: '', tie: '' };
    const { shown, next } = listed(sql, list, { accountId, ...asked, ...place }, 1);
    const [found = null] = shown;
    return { found, reached: found ? placeOf(found) : next };
  };
  const count = (text: string, asked: object) => sql.row(text, { accountId, ...asked }) as RecoverableCount;
  return {
    recoverableCount: (asked) => count(COUNT_RECOVERABLE, { ...asked, states: statesOf(asked) }),
    nextRecoverable(asked, recovery, after) {
      const sources = inStates(statesOf(asked), 'state <> 0');
      const list: List = { ...DELIVERIES, sources, isShown: IS_NEXT, is: '>' };
      const { found, reached } = first(list, { ...asked, recovery }, after);
      return { delivery: found && deliveryIn(sql, found.row, { ...asking, own: null }), reached };
    },
    missedCount: (asked, kept) => ({ ...count(COUNT_MISSED, { ...asked, kept: JSON.stringify(kept) }), completeSince }),
    nextMissed(asked, after) {
      const { found, reached } = first(MISSED, { ...asked }, after);
      const event = found && eventIn(sql, found.row);
      return { missed: event && missedOf(event, Number(found.tie)), reached };
    },
    recovery: (recoveryId) => sql.row(PROGRESS, [accountId, recoveryId]) as ReturnType<ViewQueries['recovery']>,
  };
}

function missedOf({ firstAt, payment, ...event }: EventRow, webhookId: number) {
  return { firstAt, payment, webhookId, eventId: unescaped(event.eventId), eventSource: unescaped(event.eventSource) };
}
