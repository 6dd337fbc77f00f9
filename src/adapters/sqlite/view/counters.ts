/**
 * Counters, what a batch adds to them and what they answer; and the health of webhooks. Counters are sums over the rows: an
 * attempt counts once, at its start; the end of a delivery that was not delivered counts once, when the entry that holds was
 * published. An entry that changes the end moves its count.
 */
import {
  type MinuteAttempts,
  STATS_STEPS_MS,
  type StatsBucket,
  type StatsQuery,
  type SteppedQueries,
  type Steps,
  type ViewEntry,
  type WebhookHealth,
} from '../../../ports/deliveries-view.js';
import { statusOf } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import { type AttemptRow, type DeliveryRow, foldOf, isSuccess, STATE } from './delivery-row.js';

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
/** Sums of deliveries that stand so now, some of all accounts at a time. */
const EVER = `SELECT accountId, webhookId, kind, partition, n, EXISTS (
    SELECT 1 FROM deliveries WHERE accountId = counters.accountId AND webhookId = counters.webhookId) AS isNeeded
  FROM counters WHERE ${IS_EVER} AND (accountId, webhookId, kind, partition) > (@accountId, @webhookId, @kind, @partition)
  ORDER BY accountId, webhookId, kind, partition LIMIT +@most`;
const FORGET_EVER = `DELETE FROM counters WHERE ${IS_EVER} AND (accountId, webhookId, kind, partition) = (?, ?, ?, ?)`;
const LOOKED_AT_ONCE = 500;

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

type Ever = Readonly<Record<'accountId' | 'webhookId' | 'kind' | 'partition' | 'n' | 'isNeeded', number>>;
const FIRST_OF_ALL = { accountId: Number.MIN_SAFE_INTEGER, webhookId: 0, kind: 0, partition: 0 };

/** Each call looks at some counters: a round over all of them takes several. */
export function forgettingCounts(sql: Statements): (before: number) => void {
  let reached: Omit<Ever, 'n' | 'isNeeded'> = FIRST_OF_ALL;
  return (before) => {
    sql.run(FORGET_COUNTS, [HOUR_MS, beginOf(before, HOUR_MS)]);
    const looked = sql.rows<Ever>(EVER, { ...reached, most: LOOKED_AT_ONCE });
    reached = looked.length < LOOKED_AT_ONCE ? FIRST_OF_ALL : (looked.at(-1) ?? FIRST_OF_ALL);
    for (const { accountId, webhookId, kind, partition, n, isNeeded } of looked) {
      // Where no delivery is left, the parts of each sum come to 0.
      if (isNeeded || (kind === LAST_SUCCESS && n >= before)) continue;
      sql.run(FORGET_EVER, [accountId, webhookId, kind, partition]);
    }
  };
}

/** The first has all below 1 ms, the last all from 2 min on. */
function durationBucket(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

/** The next step in which any account has a row; those without one, as those of a clock that is years off, cost nothing. */
const NEXT_STEP = 'SELECT min(at) AS at FROM counters WHERE step = @step AND at >= @from AND at < @to';
/** Each has a row for each partition. An account may have removed any number of webhooks, so it may have any number of sums. */
const SUMS_PER_STEP = 500;
/** Only the filter for one webhook is in SQL, as a bound of the search: rows that SQL leaves out would not count for LIMIT. */
const SUMS = `SELECT webhookId, kind, sum(n) AS n FROM counters
  WHERE step = @step AND at = @at AND accountId = @accountId
    AND (webhookId, kind) > (@afterWebhook, @afterKind) AND webhookId <= @lastWebhook
  GROUP BY webhookId, kind ORDER BY webhookId, kind LIMIT ${SUMS_PER_STEP}`;
const BEFORE_ALL_KINDS = -1;
const OF_WEBHOOKS = `FROM counters WHERE ${IS_EVER} AND accountId = @accountId AND webhookId > @after
  GROUP BY webhookId ORDER BY webhookId LIMIT +@most`;
const TYPES = `SELECT webhookId, max(eventType) AS eventType ${OF_WEBHOOKS}`;
const FAILURES = `FROM attempts INDEXED BY failures
  WHERE accountId = @accountId AND webhookId = standing.webhookId AND status / 100 <> 2`;
const sum = (kind: number) => `ifnull(sum(n) FILTER (WHERE kind = ${kind}), 0)`;
const HEALTH = `SELECT webhookId, lastSuccessAt, waiting, held, exhausted,
    (SELECT min(at) ${FAILURES} AND at > ifnull(lastSuccessAt, 0)) AS failingSince,
    (SELECT json_object('at', at, 'status', nullif(status, 0), 'error', json(nullif(error, '')))
      ${FAILURES} ORDER BY at DESC, attempts.status DESC, attempts.error DESC LIMIT 1) AS lastFailure
  FROM (SELECT webhookId, max(n) FILTER (WHERE kind = ${LAST_SUCCESS}) AS lastSuccessAt,
      ${sum(STATE.retrying)} AS waiting, ${sum(STATE.held)} AS held, ${sum(STATE.exhausted)} AS exhausted
    ${OF_WEBHOOKS}) AS standing`;
/** Also removed ones: an account may have had any number. */
const WEBHOOKS_PER_STEP = 100;

type HealthRow = Omit<WebhookHealth, 'lastFailure'> & Readonly<{ webhookId: number; lastFailure: string | null }>;

export function statQueries(
  sql: Statements,
  accountId: number,
): Pick<SteppedQueries, 'stats' | 'attempts' | 'dataSince' | 'health'> {
  return {
    *stats(query) {
      const ofType = query.eventType === null ? null : yield* webhooksOf(sql, accountId, query.eventType);
      const buckets: StatsBucket[] = [];
      for (const place of stepsOf(sql, query)) {
        const counts = new Map<number, number>();
        for (const sums of pagesOf(sql, accountId, place, query.webhookId)) {
          addByKind(counts, ofType ? sums.filter(({ webhookId }) => ofType.has(webhookId)) : sums);
          yield;
        }
        if ([...counts.values()].some((n) => n !== 0)) buckets.push(bucketOf(place.at, counts));
      }
      return buckets;
    },
    *attempts(begin) {
      const found: MinuteAttempts[] = [];
      for (const place of stepsOf(sql, { step: '1m', from: beginOf(begin, MINUTE_MS) })) {
        const minute: Minute = new Map();
        for (const sums of pagesOf(sql, accountId, place)) {
          addAttempts(minute, place.at, sums);
          yield;
        }
        found.push(...minute.values());
      }
      return found;
    },
    *dataSince() {
      for (const place of stepsOf(sql, { step: '1h', from: Number.MIN_SAFE_INTEGER })) {
        for (const sums of pagesOf(sql, accountId, place)) {
          if (sums.some(({ n }) => n !== 0)) return place.at;
          yield;
        }
      }
      return null;
    },
    *health() {
      const health = new Map<number, WebhookHealth>();
      for (const { webhookId, lastFailure, ...row } of yield* byWebhook<HealthRow>(sql, accountId, HEALTH)) {
        health.set(webhookId, { ...row, lastFailure: JSON.parse(lastFailure ?? 'null') });
      }
      return health;
    },
  };
}

/** The steps in which any account has a row, oldest first. */
function* stepsOf(
  sql: Statements,
  {
    step,
    from,
    to = Number.MAX_SAFE_INTEGER,
  }: Omit<StatsQuery, 'to' | 'webhookId' | 'eventType'> & { readonly to?: number },
) {
  const ms = STATS_STEPS_MS[step];
  for (let next = from; ; ) {
    const at = sql.row<{ at: number | null }>(NEXT_STEP, { step: ms, from: next, to })?.at ?? null;
    if (at === null) return;
    yield { step: ms, at };
    next = at + 1;
  }
}

type Sum = Readonly<Record<'webhookId' | 'kind' | 'n', number>>;

/** An account's sums of one step of time, by webhook and kind. Yield after each page. @param webhookId null: all webhooks */
function* pagesOf(
  sql: Statements,
  accountId: number,
  place: { readonly step: number; readonly at: number },
  webhookId: number | null = null,
): Iterable<readonly Sum[]> {
  const lastWebhook = webhookId ?? Number.MAX_SAFE_INTEGER;
  let after = { webhookId: webhookId ?? Number.MIN_SAFE_INTEGER, kind: BEFORE_ALL_KINDS };
  for (let isLast = false; !isLast; ) {
    const values = { ...place, accountId, afterWebhook: after.webhookId, afterKind: after.kind, lastWebhook };
    const sums = sql.rows<Sum>(SUMS, values);
    yield sums;
    isLast = sums.length < SUMS_PER_STEP;
    after = sums.at(-1) ?? after;
  }
}

function addByKind(counts: Map<number, number>, sums: readonly Sum[]): void {
  for (const { kind, n } of sums) counts.set(kind, (counts.get(kind) ?? 0) + n);
}

/** By webhook. */
type Minute = Map<number, Record<keyof MinuteAttempts, number>>;

function addAttempts(minute: Minute, at: number, sums: readonly Sum[]): void {
  for (const { webhookId, kind, n } of sums) {
    if (kind !== FAILED_ATTEMPT && kind < SUCCEEDED) continue;
    const attempts = minute.get(webhookId) ?? { at, webhookId, made: 0, failed: 0 };
    attempts.made += n;
    if (kind === FAILED_ATTEMPT) attempts.failed += n;
    minute.set(webhookId, attempts);
  }
}

function* webhooksOf(sql: Statements, accountId: number, eventType: string): Steps<ReadonlySet<number>> {
  const all = yield* byWebhook<{ readonly webhookId: number; readonly eventType: string | null }>(
    sql,
    accountId,
    TYPES,
  );
  return new Set(all.filter((one) => one.eventType === eventType).map(({ webhookId }) => webhookId));
}

function* byWebhook<Row extends { readonly webhookId: number }>(
  sql: Statements,
  accountId: number,
  question: string,
): Steps<readonly Row[]> {
  const all: Row[] = [];
  for (let after = Number.MIN_SAFE_INTEGER; ; yield) {
    const some = sql.rows<Row>(question, { accountId, after, most: WEBHOOKS_PER_STEP });
    all.push(...some);
    after = some.at(-1)?.webhookId ?? after;
    if (some.length < WEBHOOKS_PER_STEP) return all;
  }
}

/** @param counts by kind */
function bucketOf(at: number, counts: ReadonlyMap<number, number>): StatsBucket {
  const of = (kind: number) => counts.get(kind) ?? 0;
  const durations = Array.from({ length: DURATION_BUCKETS }, (_, n) => of(SUCCEEDED + n));
  const delivered = durations.reduce((sum, each) => sum + each, 0);
  return {
    at,
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
