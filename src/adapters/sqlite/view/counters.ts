/**
 * Counters, what a batch adds to them and what they answer; and the health of webhooks. Counters are sums over the rows: an
 * attempt counts once, at its start; the end of a delivery that was not delivered counts once, when the entry that holds was
 * published. An entry that changes the end moves its count.
 */
import {
  type MinuteAttempts,
  STATS_STEPS_MS,
  type StatsBucket,
  type ViewEntry,
  type ViewQueries,
  type WebhookHealth,
} from '../../../ports/deliveries-view.js';
import { statusOf } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import { type AttemptRow, type DeliveryRow, foldOf, isSuccess, STATE } from './delivery-row.js';
import { filtered, isIn } from './lists.js';

const STEPS_MS = Object.values(STATS_STEPS_MS);
const { '1m': MINUTE_MS, '1h': HOUR_MS } = STATS_STEPS_MS;
const beginOf = (at: number, step: number) => Math.floor(at / step) * step;
/** Minutes are kept for so long, beside the newest. */
const MINUTES_KEPT_MS = 48 * HOUR_MS;
const FORGOTTEN_AT_ONCE = 5_000;

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
const FAILED_ATTEMPT = STATE.retrying;
/** Successful attempts, by the bucket of their duration. */
const SUCCEEDED = 8;
/** Their bounds grow by the square root of 2: a percentile is exact to some 20%. */
const DURATION_BUCKETS = 36;

/** What belongs to no step: how many deliveries stand so now, by their state, and when the last success began. */
const IS_EVER = 'step = 0 AND at = 0';
/** Beside the states, and a maximum, where all others are sums. */
const LAST_SUCCESS = 7;

const KEY = 'step, at, accountId, webhookId, kind, partition';
const ADD_COUNT = `INSERT INTO counters (step, at, eventType, kind, accountId, webhookId, partition, n)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET n = iif(kind = ${LAST_SUCCESS}, max(n, excluded.n), n + excluded.n)`;
const FORGET_COUNTS = `DELETE FROM counters WHERE (${KEY}) IN
  (SELECT ${KEY} FROM counters WHERE step = ? AND at < ? LIMIT ${FORGOTTEN_AT_ONCE})`;
/** Where no delivery is left, the parts of each sum come to 0. */
const FORGET_WEBHOOKS = `DELETE FROM counters WHERE ${IS_EVER} AND ${isIn('accountId', 'accounts')}
  AND (kind <> ${LAST_SUCCESS} OR n < @before)
  AND NOT EXISTS (SELECT 1 FROM deliveries WHERE accountId = counters.accountId AND webhookId = counters.webhookId)`;

/** Of the webhook and the partition of an entry. minute: its begin; null of what belongs to no step. */
type Count = Readonly<{ entry: ViewEntry; kind: number; minute: number | null }> & { n: number };

export class Tally {
  readonly #counts = new Map<string, Count>();
  #newest = 0;

  /** @param attempt it was not known */
  attempted(entry: ViewEntry, { triedAt, status, durationMs }: AttemptRow): void {
    const isDelivered = isSuccess(status);
    if (isDelivered) this.#count(entry, LAST_SUCCESS, null, triedAt);
    this.#count(entry, isDelivered ? SUCCEEDED + durationBucket(durationMs) : FAILED_ATTEMPT, triedAt, 1);
  }

  /** @param entry says so: it takes from its own partition's part what others have added @param by -1 takes back */
  stands(row: DeliveryRow, entry: ViewEntry, by: 1 | -1): void {
    const { state } = row;
    if (state < STATE.retrying) return;
    this.#count(entry, state, null, by);
    if (state > STATE.retrying) this.#count(entry, state, statusOf(foldOf(row)).at, by);
  }

  store(sql: Statements): void {
    for (const { entry, kind, minute, n } of this.#counts.values()) {
      const { accountId, webhookId, eventType, place } = entry;
      const of = [kind, accountId, webhookId, place.partition, n];
      if (n === 0) continue;
      if (minute === null) sql.run(ADD_COUNT, [0, 0, eventType, ...of]);
      else for (const step of STEPS_MS) sql.run(ADD_COUNT, [step, beginOf(minute, step), null, ...of]);
    }
    sql.run(FORGET_COUNTS, [MINUTE_MS, this.#newest - MINUTES_KEPT_MS]);
  }

  /** One for all steps: each by itself took 0.5 us a delivery. */
  #count(entry: ViewEntry, kind: number, at: number | null, n: number): void {
    const minute = at === null ? null : beginOf(at, MINUTE_MS);
    const name = `${kind} ${minute} ${entry.accountId} ${entry.webhookId} ${entry.place.partition}`;
    const count = this.#counts.get(name) ?? { entry, kind, minute, n: 0 };
    this.#counts.set(name, count);
    count.n = kind === LAST_SUCCESS ? Math.max(count.n, n) : count.n + n;
    this.#newest = Math.max(this.#newest, at ?? 0);
  }
}

/** @param leaving before is ms since the epoch; accounts are JSON: of those, events have left */
export function forgetCounts(sql: Statements, leaving: { readonly before: number; readonly accounts: string }): void {
  sql.run(FORGET_COUNTS, [HOUR_MS, beginOf(leaving.before, HOUR_MS)]);
  sql.run(FORGET_WEBHOOKS, leaving);
}

/** The first has all below 1 ms, the last all from 2 min on. */
function durationBucket(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

const bound = (which: 'min' | 'max') => `(SELECT ${which}(at) FROM counters WHERE step = @step)`;
/** Step by step, oldest first, because a step has the rows of all accounts. */
const STEPS = `WITH RECURSIVE steps (begin) AS (
    SELECT max(@from, ${bound('min')})
    UNION ALL SELECT begin + @step FROM steps WHERE begin + @step < @to AND begin < ${bound('max')}
  )`;
const COUNTERS = 'steps CROSS JOIN counters ON step = @step AND at = begin AND accountId = @accountId';
const ASKED = filtered({
  webhookId: 'webhookId = @webhookId',
  eventType: `webhookId IN
    (SELECT webhookId FROM counters WHERE ${IS_EVER} AND accountId = @accountId AND eventType = @eventType)`,
});
const STATS = `${STEPS} SELECT at, json_group_object(kind, n) AS counts FROM (
    SELECT at, kind, sum(n) AS n FROM ${COUNTERS} WHERE begin < @to AND ${ASKED} GROUP BY at, kind HAVING sum(n) <> 0
  ) GROUP BY at ORDER BY at`;
const failed = `kind = ${FAILED_ATTEMPT}`;
const ATTEMPTS = `${STEPS} SELECT at, webhookId, sum(n) AS made, ifnull(sum(n) FILTER (WHERE ${failed}), 0) AS failed
  FROM ${COUNTERS} WHERE ${failed} OR kind >= ${SUCCEEDED} GROUP BY at, webhookId`;
const SINCE = `${STEPS} SELECT at FROM ${COUNTERS} WHERE (
    SELECT sum(n) FROM counters AS part WHERE part.step = @step AND part.at = begin AND part.accountId = @accountId
      AND (part.webhookId, part.kind) = (counters.webhookId, counters.kind)) <> 0 LIMIT 1`;
const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER };
const FAILURES = `FROM attempts
  WHERE accountId = standing.accountId AND webhookId = standing.webhookId AND status / 100 <> 2`;
const sum = (kind: number) => `ifnull(sum(n) FILTER (WHERE kind = ${kind}), 0)`;
const HEALTH = `SELECT webhookId, lastSuccessAt, waiting, held, exhausted,
    (SELECT min(at) ${FAILURES} AND at > ifnull(lastSuccessAt, 0)) AS failingSince,
    (SELECT json_object('at', at, 'status', nullif(status, 0), 'error', json(nullif(error, '')))
      ${FAILURES} ORDER BY at DESC, attempts.status DESC, attempts.error DESC LIMIT 1) AS lastFailure
  FROM (SELECT accountId, webhookId, max(n) FILTER (WHERE kind = ${LAST_SUCCESS}) AS lastSuccessAt,
      ${sum(STATE.retrying)} AS waiting, ${sum(STATE.held)} AS held, ${sum(STATE.exhausted)} AS exhausted
    FROM counters WHERE ${IS_EVER} AND accountId = ? GROUP BY webhookId) AS standing`;

type HealthRow = Omit<WebhookHealth, 'lastFailure'> & Readonly<{ webhookId: number; lastFailure: string | null }>;

export function statQueries(
  sql: Statements,
  accountId: number,
): Pick<ViewQueries, 'stats' | 'attempts' | 'dataSince' | 'health'> {
  return {
    stats(query) {
      const asked = { ...query, accountId, step: STATS_STEPS_MS[query.step] };
      return sql.rows<{ at: number; counts: string }>(STATS, asked).map(bucketOf);
    },
    attempts(begin) {
      const from = beginOf(begin, MINUTE_MS);
      return sql.rows<MinuteAttempts>(ATTEMPTS, { ...ALL, accountId, step: MINUTE_MS, from });
    },
    dataSince: () => sql.row<{ at: number }>(SINCE, { ...ALL, accountId, step: HOUR_MS })?.at ?? null,
    health() {
      const rows = sql.rows<HealthRow>(HEALTH, [accountId]);
      const health = ({ webhookId, lastFailure, ...row }: HealthRow) =>
        [webhookId, { ...row, lastFailure: JSON.parse(lastFailure ?? 'null') }] as const;
      return new Map(rows.map(health));
    },
  };
}

/** @param row its counts by kind, as JSON */
function bucketOf(row: { readonly at: number; readonly counts: string }): StatsBucket {
  const counts = JSON.parse(row.counts) as Readonly<Record<number, number>>;
  const of = (kind: number) => counts[kind] ?? 0;
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, n) => of(SUCCEEDED + n));
  const delivered = durations.reduce((sum, each) => sum + each, 0);
  return {
    at: row.at,
    delivered,
    failedAttempts: of(FAILED_ATTEMPT),
    exhausted: of(STATE.exhausted),
    cancelled: of(STATE.cancelled) + of(STATE.removed),
    held: of(STATE.held),
    p50Ms: middleOf(durations, delivered * 0.5),
    p95Ms: middleOf(durations, delivered * 0.95),
  };
}

/** @param counts by bucket @returns the middle of the bucket that has the one of this rank, ms; null without any */
function middleOf(counts: readonly number[], rank: number): number | null {
  let left = rank;
  const bucket = counts.findIndex((count) => {
    left -= count;
    return left <= 0;
  });
  if (rank <= 0) return null;
  return bucket === 0 ? 0.5 : Math.round(10 * 2 ** ((bucket - 0.5) / 2)) / 10;
}
