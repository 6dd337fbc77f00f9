/** What a recovery sends: deliveries that can be sent again, payments that webhooks missed; and what became of them. */
import type {
  ListPlace,
  MissedQuery,
  RecoverableQuery,
  SteppedQueries,
  Steps,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { DELIVERIES, deliveryIn, inStates } from './delivery-pages.js';
import { STATE } from './delivery-row.js';
import { eventIn } from './event-pages.js';
import type { EventRow } from './event-row.js';
import { type Asking, counted, isIn, type List, listed, OF_ACCOUNT, placeOf, type Source } from './lists.js';
import { unescaped } from './schema.js';

const statesOf = ({ include }: Pick<RecoverableQuery, 'include'>) => include.map((one) => STATE[one]);

const IS_NEXT = `${isIn('webhookId', 'webhookIds')} AND NOT EXISTS (SELECT 1 FROM requests
  WHERE delivery = deliveries.row AND recovery = @recovery)`;

const id = "webhook.value ->> 'id'";
/** Each payment with every webhook of its type; one without any is a row too, for it has to be examined. */
const TO_MISS: Source = {
  ...OF_ACCOUNT,
  from: `${OF_ACCOUNT.from} LEFT JOIN json_each(@webhooks) AS webhook ON webhook.value ->> 'eventType' = eventType`,
};
const IS_MISSED = `${id} IS NOT NULL AND routedAt IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = events.row AND webhookId = ${id})
  AND NOT EXISTS (SELECT 1 FROM json_each(webhooks) AS routed WHERE routed.value = ${id})`;
const PARTITION = `rtrim(payment, '-@0123456789')`;
const IS_KEPT = `paymentOffset >= ifnull(@kept ->> ${PARTITION}, 0)`;
const MISSED: List = { row: 'events.row', sources: [TO_MISS], tie: `ifnull(${id}, 0)`, isShown: IS_MISSED, is: '>' };
const MISSED_AND_KEPT: List = { ...MISSED, isShown: `${IS_MISSED} AND ${IS_KEPT}` };

const PROGRESS = `SELECT ifnull(sum(n), 0) AS sent, ifnull(sum(n) FILTER (WHERE state < ${STATE.retrying}), 0) AS delivered,
    ifnull(sum(n) FILTER (WHERE state > ${STATE.retrying}), 0) AS failed
  FROM progress WHERE accountId = ? AND recovery = ?`;

type Period = Pick<RecoverableQuery, 'since' | 'until'> & Readonly<Record<string, unknown>>;
type Names = 'recoverableCount' | 'nextRecoverable' | 'missedCount' | 'nextMissed' | 'recovery';
type Progress = ReturnType<SteppedQueries['recovery']> extends Steps<infer Shown> ? Shown : never;

/** SQLite parses the webhooks for each payment: with their headers, a MiB of them took a step of 500 payments 1.3 s. */
function missedBy({ webhooks, ...asked }: MissedQuery): Period {
  return { ...asked, webhooks: webhooks.map(({ id, eventType }) => ({ id, eventType })) };
}

export function recoveryQueries(sql: Statements, asking: Asking): Pick<SteppedQueries, Names> {
  const { accountId, completeSince } = asking;
  const from = (asked: Period, after: ListPlace | null) => {
    return { accountId, ...asked, ...(after ?? { firstAt: asked.since, payment: '', tie: '' }) };
  };
  return {
    *recoverableCount({ webhookIds, ...asked }) {
      const list: List = {
        ...DELIVERIES,
        sources: inStates(statesOf(asked), 'deliveriesOfWebhook'),
        isShown: '1',
        is: '>',
      };
      return yield* counted(
        sql,
        list,
        webhookIds.map((webhookId) => ({ ...from(asked, null), webhookId })),
      );
    },
    *nextRecoverable(asked, recovery, after) {
      const sources = inStates(statesOf(asked), 'deliveriesInTrouble');
      const list: List = { ...DELIVERIES, sources, isShown: IS_NEXT, is: '>' };
      const { found, reached } = yield* first(sql, list, from({ ...asked, recovery }, after), ({ row }) =>
        deliveryIn(sql, row, { ...asking, own: null }),
      );
      return { delivery: found, reached };
    },
    *missedCount(asked, kept) {
      const values = { ...from(missedBy(asked), null), kept: JSON.stringify(kept) };
      return { ...(yield* counted(sql, MISSED_AND_KEPT, [values])), completeSince };
    },
    *nextMissed(asked, after) {
      const { found, reached } = yield* first(sql, MISSED, from(missedBy(asked), after), ({ row, tie }) =>
        missedOf(eventIn(sql, row), Number(tie)),
      );
      return { missed: found, reached };
    },
    *recovery(recoveryId) {
      yield;
      return sql.row(PROGRESS, [accountId, recoveryId]) as Progress;
    },
  };
}

/** The first that is asked for, and the place up to which rows were examined for it; null: there is nothing behind. */
function* first<Shown>(
  sql: Statements,
  list: List,
  values: Parameters<typeof listed>[2],
  view: (row: ListPlace & { readonly row: number }) => Shown,
) {
  const { shown, next } = yield* listed(sql, list, values, 1, (row) => ({ found: view(row), place: placeOf(row) }));
  const [one] = shown;
  return { found: one?.found ?? null, reached: one?.place ?? next };
}

function missedOf({ firstAt, payment, ...event }: EventRow, webhookId: number) {
  return { firstAt, payment, webhookId, eventId: unescaped(event.eventId), eventSource: unescaped(event.eventSource) };
}
