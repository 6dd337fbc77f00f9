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
import { type DeliveryRow, foldOf, isSuccess, STATE, timeOf } from './delivery-row.js';
import { filtered } from './lists.js';

const STEPS_MS = Object.values(STATS_STEPS_MS);
const { '1m': MINUTE_MS, '1h': HOUR_MS } = STATS_STEPS_MS;
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
const CHANGE_WEBHOOK = `INSERT INTO webhooks (accountId, webhookId, eventType, successAt, waiting, exhausted, held)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET successAt = max(successAt, excluded.successAt), waiting = waiting + excluded.waiting,
    exhausted = exhausted + excluded.exhausted, held = held + excluded.held`;

type OfWebhook = Pick<ViewEntry, 'accountId' | 'webhookId'>;
type Standing = 'waiting' | 'exhausted' | 'held';
/** Of a webhook, by a batch. */
type Changes = OfWebhook & Pick<ViewEntry, 'eventType'> & Record<'successAt' | Standing, number>;

const STANDING_OF: { readonly [State in number]?: Standing } = {
  [STATE.retrying]: 'waiting',
  [STATE.exhausted]: 'exhausted',
  [STATE.held]: 'held',
};

export class Tally {
  readonly #counts = new Map<string, { readonly key: readonly number[]; n: number }>();
  readonly #webhooks = new Map<string, Changes>();
  #newest = 0;

  /** @param isNew whether the entry's attempt was not known */
  told(entry: ViewEntry, isNew: boolean): void {
    const webhook = this.#webhook(entry, entry.eventType);
    const { attempt } = entry;
    if (!attempt) return;
    const [at, isDelivered] = [timeOf(attempt.at), isSuccess(attempt.status)];
    if (isDelivered) webhook.successAt = Math.max(webhook.successAt, at);
    const kind = isDelivered ? SUCCEEDED + durationBucket(attempt.durationMs) : FAILED_ATTEMPT;
    if (isNew) this.#happened(entry, at, kind, 1);
  }

  /** @param by -1 takes back what was counted */
  stands(row: DeliveryRow, eventType: string, by: 1 | -1): void {
    const { state } = row;
    const standing = STANDING_OF[state];
    if (standing) this.#webhook(row, eventType)[standing] += by;
    if (state > STATE.retrying) this.#happened(row, statusOf(foldOf(row)).at, state, by);
  }

  store(sql: Statements): void {
    for (const { key, n } of this.#counts.values()) if (n !== 0) sql.run(ADD_COUNT, [...key, n]);
    for (const changes of this.#webhooks.values()) sql.run(CHANGE_WEBHOOK, Object.values(changes));
    forget(sql, MINUTE_MS, this.#newest - MINUTES_KEPT_MS);
  }

  #webhook({ accountId, webhookId }: OfWebhook, eventType: string): Changes {
    const name = `${accountId} ${webhookId}`;
    const known = this.#webhooks.get(name);
    if (known) return known;
    const changes = { accountId, webhookId, eventType, successAt: 0, waiting: 0, exhausted: 0, held: 0 };
    this.#webhooks.set(name, changes);
    return changes;
  }

  #happened(of: OfWebhook, at: number, kind: number, by: number): void {
    this.#newest = Math.max(this.#newest, at);
    for (const step of STEPS_MS) {
      const key = [step, Math.floor(at / step) * step, of.accountId, of.webhookId, kind];
      const name = key.join();
      const count = this.#counts.get(name) ?? { key, n: 0 };
      this.#counts.set(name, count);
      count.n += by;
    }
  }
}

/** @param before ms since the epoch */
export function forgetCounts(sql: Statements, before: number): void {
  for (const step of STEPS_MS) forget(sql, step, Math.floor(before / HOUR_MS) * HOUR_MS);
}

function forget(sql: Statements, step: number, before: number): void {
  sql.run(FORGET_COUNTS, [step, before, FORGOTTEN_AT_ONCE]);
}

/** The first has all below 1 ms, the last all from 2 min on. */
function durationBucket(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

const bound = (which: 'min' | 'max') => `(SELECT ${which}(at) FROM counters WHERE step = @step)`;
/** Step by step, oldest first, because a step has the rows of all accounts. */
const STEPS = `WITH RECURSIVE steps (at) AS (
    SELECT max(@from, ${bound('min')})
    UNION ALL SELECT at + @step FROM steps WHERE at + @step < @to AND at < ${bound('max')}
  )`;
const COUNTERS = `steps CROSS JOIN counters ON step = @step AND counters.at = steps.at AND accountId = @accountId`;
const ASKED = filtered({
  webhookId: 'webhookId = @webhookId',
  eventType: 'webhookId IN (SELECT webhookId FROM webhooks WHERE accountId = @accountId AND eventType = @eventType)',
});
const STATS = `${STEPS} SELECT at, json_group_object(kind, n) AS counts FROM (
    SELECT counters.at AS at, kind, sum(n) AS n FROM ${COUNTERS}
    WHERE steps.at < @to AND ${ASKED} GROUP BY counters.at, kind HAVING sum(n) <> 0
  ) GROUP BY at ORDER BY at`;
const failed = `kind = ${FAILED_ATTEMPT}`;
const ATTEMPTS = `${STEPS} SELECT counters.at AS at, webhookId, sum(n) AS made,
    coalesce(sum(n) FILTER (WHERE ${failed}), 0) AS failed
  FROM ${COUNTERS} WHERE ${failed} OR kind >= ${SUCCEEDED} GROUP BY counters.at, webhookId`;
const SINCE = `${STEPS} SELECT counters.at AS at FROM ${COUNTERS} LIMIT 1`;
const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER };
const FAILURES = `FROM attempts
  WHERE accountId = webhooks.accountId AND webhookId = webhooks.webhookId AND status / 100 <> 2`;
const HEALTH = `SELECT webhookId, nullif(successAt, 0) AS lastSuccessAt, waiting, held, exhausted,
    (SELECT min(at) ${FAILURES} AND at > successAt) AS failingSince,
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
    stats(query) {
      const asked = { ...query, accountId, step: STATS_STEPS_MS[query.step] };
      return sql.rows<{ at: number; counts: string }>(STATS, asked).map(bucketOf);
    },
    attempts(begin) {
      const from = Math.floor(begin / MINUTE_MS) * MINUTE_MS;
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
  return {
    at: row.at,
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
