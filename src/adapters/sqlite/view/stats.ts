/** What is answered from counters, and from what is kept of each webhook. */
import {
  type MinuteAttempts,
  STATS_STEPS_MS,
  type StatsBucket,
  type StatsQuery,
  type ViewQueries,
  type WebhookHealth,
} from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { STATE } from './delivery-row.js';
import { filtered } from './lists.js';
import { unescaped } from './schema.js';
import { DURATION_BUCKETS, FAILED_ATTEMPT, HOUR_MS, oldestMinute, SUCCEEDED } from './tally.js';

const bound = (which: 'min' | 'max') => `(SELECT ${which}(at) FROM counters WHERE step = @by)`;
/** Step by step, because a step has the rows of all accounts. */
const COUNTERS = `steps CROSS JOIN counters ON step = @by AND counters.at = steps.at AND accountId = @accountId`;
const STEPS = `WITH RECURSIVE steps (at) AS (
    SELECT max(@begin, ${bound('min')})
    UNION ALL SELECT at + @by FROM steps WHERE at + @by < @to AND at < ${bound('max')}
  )`;
const ASKED = filtered({
  webhookId: 'webhookId = @webhookId',
  eventType: 'webhookId IN (SELECT webhookId FROM webhooks WHERE accountId = @accountId AND eventType = @eventType)',
});
const STATS = `${STEPS} SELECT counters.at AS at, kind, sum(n) AS n FROM ${COUNTERS}
  WHERE steps.at < @to AND ${ASKED} GROUP BY counters.at, kind HAVING sum(n) <> 0 ORDER BY counters.at`;
const failed = `kind = ${FAILED_ATTEMPT}`;
const ATTEMPTS = `${STEPS} SELECT counters.at AS at, webhookId, sum(n) AS made,
    coalesce(sum(n) FILTER (WHERE ${failed}), 0) AS failed
  FROM ${COUNTERS} WHERE ${failed} OR kind >= ${SUCCEEDED} GROUP BY counters.at, webhookId`;
const SINCE = `SELECT max(min(since), coalesce((SELECT min(at) FROM counters WHERE step = ${HOUR_MS}), min(since))) AS since
  FROM webhooks WHERE accountId = ?`;
const standing = (state: number) => `coalesce((SELECT n FROM counters WHERE step = 0 AND at = 0
  AND accountId = webhooks.accountId AND webhookId = webhooks.webhookId AND kind = ${state}), 0)`;
const FAILURES = 'status / 100 <> 2';
const HEALTH = `SELECT webhookId, successAt AS lastSuccessAt, ${standing(STATE.retrying)} AS waiting,
    ${standing(STATE.held)} AS held, ${standing(STATE.exhausted)} AS exhausted,
    (SELECT min(at) FROM attempts WHERE accountId = webhooks.accountId AND webhookId = webhooks.webhookId
      AND ${FAILURES} AND at > coalesce(successAt, 0)) AS failingSince
  FROM webhooks WHERE accountId = ?`;
const LAST_FAILURE = `SELECT at, nullif(status, 0) AS status, nullif(error, '') AS error FROM attempts
  WHERE accountId = ? AND webhookId = ? AND ${FAILURES} ORDER BY at DESC, attempts.status DESC, attempts.error DESC LIMIT 1`;

type HealthRow = Omit<WebhookHealth, 'lastFailure'> & { readonly webhookId: number };

export function statQueries(
  sql: Statements,
  accountId: number,
): Pick<ViewQueries, 'stats' | 'attempts' | 'dataSince' | 'health'> {
  const lastFailure = (webhookId: number) => {
    const last = sql.row<NonNullable<WebhookHealth['lastFailure']>>(LAST_FAILURE, [accountId, webhookId]);
    return last ? { ...last, error: unescaped(last.error) } : null;
  };
  return {
    stats({ webhookId, eventType, ...query }) {
      const steps = new Map<number, number[]>();
      const asked = { accountId, webhookId, eventType, ...stepsOf(sql, query) };
      for (const { at, kind, n } of sql.rows<Record<'at' | 'kind' | 'n', number>>(STATS, asked)) {
        const counts = steps.get(at) ?? [];
        counts[kind] = n;
        steps.set(at, counts);
      }
      return [...steps].map(bucketOf);
    },
    attempts(from) {
      const steps = stepsOf(sql, { step: '1m', from, to: Number.MAX_SAFE_INTEGER });
      return sql.rows<MinuteAttempts>(ATTEMPTS, { accountId, ...steps });
    },
    dataSince: () => sql.row<{ since: number | null }>(SINCE, [accountId])?.since ?? null,
    health() {
      const rows = sql.rows<HealthRow>(HEALTH, [accountId]);
      return new Map(rows.map(({ webhookId, ...row }) => [webhookId, { ...row, lastFailure: lastFailure(webhookId) }]));
    },
  };
}

function stepsOf(sql: Statements, { step, from, to }: Pick<StatsQuery, 'step' | 'from' | 'to'>) {
  const by = STATS_STEPS_MS[step];
  const begin = step === '1m' ? Math.max(from, oldestMinute(sql)) : from;
  return { by, begin: Math.floor(begin / by) * by, to };
}

/** @param counts by kind */
function bucketOf([at, counts]: readonly [number, readonly number[]]): StatsBucket {
  const of = (kind: number) => counts[kind] ?? 0;
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, n) => of(SUCCEEDED + n));
  return {
    at,
    delivered: durations.reduce((sum, each) => sum + each, 0),
    failedAttempts: of(FAILED_ATTEMPT),
    exhausted: of(STATE.exhausted),
    cancelled: of(STATE.cancelled) + of(STATE.removed),
    held: of(STATE.held),
    p50Ms: percentileOf(durations, 50),
    p95Ms: percentileOf(durations, 95),
  };
}

/** @param counts by bucket @returns ms, between the bounds of its bucket by rank; null without any */
function percentileOf(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, each) => sum + each, 0);
  if (total <= 0) return null;
  let rank = (total * percent) / 100;
  const bucket = counts.findIndex((each) => {
    if (each >= rank) return true;
    rank -= each;
    return false;
  });
  const within = rank / (counts[bucket] ?? 1);
  const ms = bucket === 0 ? within : 2 ** ((bucket - 1 + within) / 2);
  return Math.round(ms * 10) / 10;
}
