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
import { unescaped } from './schema.js';
import { type Counts, DURATION_BUCKETS, FAILED_ATTEMPT, HOUR_MS, oldestMinute, SUCCEEDED } from './tally.js';

const bound = (which: 'min' | 'max') => `(SELECT ${which}(at) FROM counters WHERE step = @by)`;
/** Step by step, because a step has the rows of all accounts. */
const COUNTERS = `
  WITH RECURSIVE steps (at) AS (
    SELECT max(@begin, ${bound('min')})
    UNION ALL SELECT at + @by FROM steps WHERE at + @by < @to AND at < ${bound('max')}
  )
  SELECT counters.at, counts FROM steps
  CROSS JOIN counters ON step = @by AND counters.at = steps.at AND accountId = @accountId
  WHERE steps.at < @to`;
const OF_TYPE = 'SELECT webhookId FROM webhooks WHERE accountId = @accountId AND eventType = @eventType';
const SINCE = `SELECT max(min(since), coalesce((SELECT min(at) FROM counters WHERE step = ${HOUR_MS}), min(since))) AS since
  FROM webhooks WHERE accountId = ?`;
const count = (state: number) => `coalesce((SELECT deliveries FROM standing
  WHERE accountId = webhooks.accountId AND webhookId = webhooks.webhookId AND state = ${state}), 0)`;
const failures =
  'FROM attempts WHERE accountId = webhooks.accountId AND webhookId = webhooks.webhookId AND hasFailed = 1';
const HEALTH = `SELECT webhookId, successAt AS lastSuccessAt, ${count(STATE.retrying)} AS waiting,
    ${count(STATE.held)} AS held, ${count(STATE.exhausted)} AS exhausted,
    (SELECT min(at) ${failures} AND at > coalesce(successAt, 0)) AS failingSince
  FROM webhooks WHERE accountId = ?`;
const LAST_FAILURE = `SELECT at, nullif(status, 0) AS status, nullif(error, '') AS error FROM attempts WHERE accountId = ? AND webhookId = ? AND hasFailed = 1
  ORDER BY at DESC, attempts.status DESC, attempts.error DESC LIMIT 1`;

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
    stats(query) {
      const webhooks = askedIn(sql, accountId, query);
      const bySteps = new Map<number, number[]>();
      for (const { at, counts } of countersFor(sql, accountId, query)) {
        const sums = bySteps.get(at) ?? [];
        addUp(sums, JSON.parse(counts) as Counts, webhooks);
        bySteps.set(at, sums);
      }
      const counted = [...bySteps].filter(([, sums]) => sums.some((sum) => sum !== 0));
      return counted.sort(([one], [other]) => one - other).map(bucketOf);
    },
    attempts(from) {
      const minutes = countersFor(sql, accountId, { step: '1m', from, to: Number.MAX_SAFE_INTEGER });
      return minutes.flatMap(({ at, counts }) =>
        Object.entries(JSON.parse(counts) as Counts).map(([id, kinds]) => attemptsOf(at, Number(id), kinds)),
      );
    },
    dataSince: () => sql.row<{ since: number | null }>(SINCE, [accountId])?.since ?? null,
    health() {
      const rows = sql.rows<HealthRow>(HEALTH, [accountId]);
      return new Map(rows.map(({ webhookId, ...row }) => [webhookId, { ...row, lastFailure: lastFailure(webhookId) }]));
    },
  };
}

function countersFor(sql: Statements, accountId: number, { step, from, to }: Pick<StatsQuery, 'step' | 'from' | 'to'>) {
  const by = STATS_STEPS_MS[step];
  const begin = step === '1m' ? Math.max(from, oldestMinute(sql)) : from;
  const asked = { by, begin: Math.floor(begin / by) * by, to, accountId };
  return sql.rows<{ readonly at: number; readonly counts: string }>(COUNTERS, asked);
}

/** Null is any. */
function askedIn(sql: Statements, accountId: number, { webhookId, eventType }: StatsQuery): ReadonlySet<number> | null {
  if (eventType === null) return webhookId === null ? null : new Set([webhookId]);
  const ofType = sql.rows<{ webhookId: number }>(OF_TYPE, { accountId, eventType }).map((row) => row.webhookId);
  return new Set(webhookId === null ? ofType : ofType.filter((id) => id === webhookId));
}

function attemptsOf(at: number, webhookId: number, kinds: Counts[number]): MinuteAttempts {
  const made = Object.entries(kinds).filter(([kind]) => Number(kind) === FAILED_ATTEMPT || Number(kind) >= SUCCEEDED);
  return { at, webhookId, made: made.reduce((sum, [, each]) => sum + each, 0), failed: kinds[FAILED_ATTEMPT] ?? 0 };
}

function addUp(sums: number[], counts: Counts, webhooks: ReadonlySet<number> | null): void {
  for (const webhookId in counts) {
    if (webhooks !== null && !webhooks.has(Number(webhookId))) continue;
    const ofWebhook = counts[Number(webhookId)];
    for (const kind in ofWebhook) sums[Number(kind)] = (sums[Number(kind)] ?? 0) + (ofWebhook[Number(kind)] ?? 0);
  }
}

function bucketOf([at, sums]: readonly [number, readonly number[]]): StatsBucket {
  const of = (kind: number) => sums[kind] ?? 0;
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
