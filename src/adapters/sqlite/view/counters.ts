/**
 * Counters, what a batch adds to them and what they answer; and the health of webhooks. Counters are sums over the rows: an
 * attempt counts once, at its start; the end of a delivery that was not delivered counts once, when the entry that holds was
 * published. An entry that changes the end moves its count. A step of 0 counts the deliveries that have a state now.
 */
import {
  type MinuteAttempts,
  STATS_STEPS_MS,
  type StatsBucket,
  type StatsQuery,
  type ViewEntry,
  type ViewQueries,
  type WebhookHealth,
} from '../../../ports/deliveries-view.js';
import { statusOf } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import { type DeliveryRow, foldOf, isSuccess, STATE, timeOf } from './delivery-row.js';
import { filtered } from './lists.js';

const STEPS_MS = Object.values(STATS_STEPS_MS);
const MINUTE_MS = STATS_STEPS_MS['1m'];
const HOUR_MS = STATS_STEPS_MS['1h'];
/** Minutes are kept for so long, beside the newest. */
const MINUTES_KEPT_MS = 48 * HOUR_MS;
const FORGOTTEN_AT_ONCE = 5_000;

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
const FAILED_ATTEMPT = STATE.retrying;
/** Successful attempts, by the bucket of their duration. */
const SUCCEEDED = 8;
/** Their bounds grow by the square root of 2: a percentile is exact to some 20%. */
const DURATION_BUCKETS = 36;

const KEY = 'step, at, accountId, webhookId, kind';
const ADD_COUNT = `INSERT INTO counters (${KEY}, n) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n`;
const FORGET_COUNTS = `DELETE FROM counters WHERE (${KEY}) IN
  (SELECT ${KEY} FROM counters WHERE step = ? AND at < ? LIMIT +?)`;
type OfWebhook = Pick<ViewEntry, 'accountId' | 'webhookId'>;

export class Tally {
  readonly #counts = new Map<string, { readonly key: readonly number[]; n: number }>();

  /** By an attempt that was not known. */
  attempted({ attempt, ...entry }: ViewEntry): void {
    if (!attempt) return;
    const kind = isSuccess(attempt.status) ? SUCCEEDED + durationBucket(attempt.durationMs) : FAILED_ATTEMPT;
    this.#happened(entry, timeOf(attempt.at), kind, 1);
  }

  /** @param by -1 takes back what was counted */
  stands(row: DeliveryRow, by: 1 | -1): void {
    const { state } = row;
    if (state >= STATE.retrying) this.#add(0, 0, row, state, by);
    if (state > STATE.retrying) this.#happened(row, statusOf(foldOf(row)).at, state, by);
  }

  store(sql: Statements): void {
    for (const { key, n } of this.#counts.values()) if (n !== 0) sql.run(ADD_COUNT, [...key, n]);
    if (this.#counts.size > 0) forget(sql, MINUTE_MS, oldestMinute(sql));
  }

  #happened(entry: OfWebhook, at: number, kind: number, by: number): void {
    for (const step of STEPS_MS) this.#add(step, Math.floor(at / step) * step, entry, kind, by);
  }

  #add(step: number, at: number, { accountId, webhookId }: OfWebhook, kind: number, by: number): void {
    const key = [step, at, accountId, webhookId, kind];
    const name = key.join();
    const count = this.#counts.get(name) ?? { key, n: 0 };
    this.#counts.set(name, count);
    count.n += by;
  }
}

/** @param before ms since the epoch */
export function forgetCounts(sql: Statements, before: number): void {
  for (const step of STEPS_MS) forget(sql, step, Math.floor(before / HOUR_MS) * HOUR_MS);
}

/** The first hour whose minutes are kept, ms since the epoch. */
function oldestMinute(sql: Statements): number {
  const newest = sql.row<{ at: number | null }>('SELECT max(at) AS at FROM counters WHERE step = ?', [MINUTE_MS])?.at;
  return Math.floor((newest ?? 0) / HOUR_MS) * HOUR_MS - MINUTES_KEPT_MS;
}

function forget(sql: Statements, step: number, before: number): void {
  sql.run(FORGET_COUNTS, [step, before, FORGOTTEN_AT_ONCE]);
}

/** The first has all below 1 ms, the last all from 2 min on. */
function durationBucket(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

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
const FAILURES = `FROM attempts
  WHERE accountId = webhooks.accountId AND webhookId = webhooks.webhookId AND status / 100 <> 2`;
const HEALTH = `SELECT webhookId, successAt AS lastSuccessAt, ${standing(STATE.retrying)} AS waiting,
    ${standing(STATE.held)} AS held, ${standing(STATE.exhausted)} AS exhausted,
    (SELECT min(at) ${FAILURES} AND at > coalesce(successAt, 0)) AS failingSince,
    (SELECT json_object('at', at, 'status', nullif(status, 0), 'error', json(nullif(error, '')))
      ${FAILURES} ORDER BY at DESC, attempts.status DESC, attempts.error DESC LIMIT 1) AS lastFailure
  FROM webhooks WHERE accountId = ?`;

type HealthRow = Omit<WebhookHealth, 'lastFailure'> & {
  readonly webhookId: number;
  readonly lastFailure: string | null;
};

export function statQueries(
  sql: Statements,
  accountId: number,
): Pick<ViewQueries, 'stats' | 'attempts' | 'dataSince' | 'health'> {
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
      return new Map(
        rows.map(({ webhookId, lastFailure, ...row }) => {
          return [webhookId, { ...row, lastFailure: JSON.parse(lastFailure ?? 'null') }];
        }),
      );
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

/** @param counts by bucket @returns ms, the middle of its bucket; null without any */
function percentileOf(counts: readonly number[], percent: number): number | null {
  const total = counts.reduce((sum, each) => sum + each, 0);
  let rank = (total * percent) / 100;
  const bucket = counts.findIndex((each) => {
    rank -= each;
    return rank <= 0;
  });
  if (total <= 0) return null;
  return bucket === 0 ? 0.5 : Math.round(10 * 2 ** ((bucket - 0.5) / 2)) / 10;
}
