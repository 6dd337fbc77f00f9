/** What a recovery sends: deliveries that can be sent again, payments that webhooks missed; and what became of them. */
import type {
  DeliveryPlace,
  EventPlace,
  MissedPlace,
  MissedQuery,
  RecoverableCount,
  RecoverableQuery,
  RecoveryProgress,
  Undelivered,
  ViewQueries,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { deliveryList, detail, inStates } from './delivery-pages.js';
import { STATE } from './delivery-row.js';
import type { DeliveryIdOf } from './event-pages.js';
import type { EventRow } from './event-row.js';
import { type Asking, type Candidate, isIn, list, listed, OF_ACCOUNT, pageOf, placeOf, type Source } from './lists.js';
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

type Asked = Pick<MissedQuery, 'since' | 'until'> & Readonly<Record<string, unknown>>;
type Names = 'recoverableCount' | 'nextRecoverable' | 'missedCount' | 'nextMissed' | 'recovery';

export function recoveryQueries(sql: Statements, asking: Asking, deliveryIdOf: DeliveryIdOf): Pick<ViewQueries, Names> {
  const { accountId } = asking;
  const idOf = ({ row, webhookId }: Candidate<MissedPlace>) => {
    const event = sql.row<EventRow>('SELECT * FROM events WHERE row = ?', [row]) as EventRow;
    const about = { eventId: unescaped(event.eventId), eventSource: unescaped(event.eventSource) };
    return deliveryIdOf(accountId, about, webhookId);
  };
  /** The first that is asked for, behind a place. */
  const first = <Place extends EventPlace>(text: string, after: Place, { since, until, ...query }: Asked) => {
    const bounds = { from: Math.max(since, after.firstAt), most: until - 1 };
    const values = listed({ ...query, accountId, ...after, ...bounds });
    const { shown, reached, more } = pageOf(sql.each<Candidate<Place>>(text, values), 1);
    const [found = null] = shown;
    return { found, reached: found ? placeOf<Place>(found) : more ? reached : null };
  };
  const count = (text: string, asked: object) =>
    sql.row<RecoverableCount>(text, listed({ ...asked, accountId })) as RecoverableCount;
  return {
    recoverableCount: ({ include, ...asked }) => count(COUNT_RECOVERABLE, { ...asked, states: statesOf(include) }),
    nextRecoverable({ include, ...asked }, recovery, after) {
      const text = deliveryList(inStates(statesOf(include), 'state <> 0'), IS_NEXT, '>');
      const begin = { firstAt: asked.since, payment: '', id: '' };
      const { found, reached } = first<DeliveryPlace>(text, after ?? begin, { ...asked, recovery });
      const delivery = found && { ...detail(sql, found.row, { ...asking, own: null }), responses: new Map() };
      return { delivery, reached };
    },
    missedCount: (asked) => count(COUNT_MISSED, asked),
    nextMissed(asked, after) {
      const begin = { firstAt: asked.since, payment: '', webhookId: 0 };
      const { found, reached } = first<MissedPlace>(MISSED, after ?? begin, { ...asked });
      const missed = found && reached && { ...reached, deliveryId: idOf(found) };
      return { missed, reached };
    },
    recovery: (recoveryId) => sql.row(PROGRESS, [accountId, recoveryId]) as RecoveryProgress,
  };
}

function statesOf(include: RecoverableQuery['include']): readonly number[] {
  return include.map((one) => STATES_OF[one]);
}
