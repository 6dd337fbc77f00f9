/**
 * What a batch adds to counts by account, step and partition, and to what is kept of each webhook: a write for each. Counts are
 * sums over the rows: an attempt counts once, at its start, and the end of a delivery that was not delivered once, when the
 * entry that holds was published. An entry that changes the end moves its count. Whoever reads them adds up the partitions.
 */
import { STATS_STEPS_MS, type ViewEntry } from '../../../ports/deliveries-view.js';
import { statusOf } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import { type Folded, isSuccess, STATE, stateOf, timeOf } from './delivery-row.js';
import { type Row, upsert } from './schema.js';

/** The steps that are stored. */
const MINUTE_MS = STATS_STEPS_MS['1m'];
export const HOUR_MS = STATS_STEPS_MS['1h'];
/** Minutes are kept for so long, beside the newest. */
const MINUTES_KEPT_MS = 48 * HOUR_MS;

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
export const FAILED_ATTEMPT = STATE.retrying;
/** Successful attempts, by the bucket of their duration. */
export const SUCCEEDED = 8;
/** Their bounds grow by the square root of 2: a percentile is exact to some 20%. */
export const DURATION_BUCKETS = 36;

const FORGOTTEN_AT_ONCE = 500;

/** By webhook and kind. */
export interface Counts {
  [webhookId: number]: { [kind: number]: number };
}

type Sum = Row<'minute' | 'accountId' | 'partition'> & { readonly counts: Counts };

interface Heard {
  readonly entry: ViewEntry;
  since: number;
  toldAt: number;
  successAt: number | null;
}

const COUNTER = ['step', 'at', 'accountId', 'partition'];
const COUNTS_OF = `SELECT counts FROM counters WHERE ${COUNTER.map((name) => `${name} = ?`).join(' AND ')}`;
const PUT_COUNTS = upsert('counters', COUNTER, ['counts']);
const FORGET_COUNTS = `DELETE FROM counters WHERE (${COUNTER.join()}) IN
  (SELECT ${COUNTER.join()} FROM counters WHERE step = ? AND at < ? LIMIT +?)`;
const PUT_WEBHOOK = `INSERT INTO webhooks (accountId, webhookId, eventType, since, toldAt, successAt) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET since = min(since, excluded.since), toldAt = max(toldAt, excluded.toldAt),
    successAt = max(coalesce(successAt, excluded.successAt), coalesce(excluded.successAt, successAt))`;

export class Tally {
  readonly #sums = new Map<string, Sum>();
  readonly #webhooks = new Map<string, Heard>();

  /** @param isNew its attempt was not known */
  heard(entry: ViewEntry, isNew: boolean): void {
    const { place, attempt, accountId, webhookId } = entry;
    const key = `${accountId} ${webhookId}`;
    const of = this.#webhooks.get(key) ?? { entry, since: Number.MAX_SAFE_INTEGER, toldAt: 0, successAt: null };
    this.#webhooks.set(key, of);
    const at = (attempt && timeOf(attempt.at)) || place.timestamp;
    of.since = Math.min(of.since, at, place.timestamp);
    of.toldAt = Math.max(of.toldAt, place.timestamp);
    if (!attempt || !isNew) return;
    const hasSucceeded = isSuccess(attempt.status);
    if (hasSucceeded) of.successAt = Math.max(of.successAt ?? 0, timeOf(attempt.at));
    const kind = hasSucceeded ? SUCCEEDED + bucketOf(attempt.durationMs) : FAILED_ATTEMPT;
    this.#count(entry, { at: timeOf(attempt.at), partition: place.partition }, kind, 1);
  }

  /** @param by -1 takes back what was counted */
  ended(entry: ViewEntry, folded: Folded, by: 1 | -1): void {
    const state = stateOf(folded);
    if (state > STATE.retrying) this.#count(entry, statusOf(folded.fold), state, by);
  }

  store(sql: Statements): void {
    for (const sum of this.#sums.values()) for (const step of [MINUTE_MS, HOUR_MS]) put(sql, step, sum);
    if (this.#sums.size > 0) forget(sql, MINUTE_MS, oldestMinute(sql));
    for (const { entry, since, toldAt, successAt } of this.#webhooks.values()) {
      sql.run(PUT_WEBHOOK, [entry.accountId, entry.webhookId, entry.eventType, since, toldAt, successAt]);
    }
  }

  #count(
    { accountId, webhookId }: ViewEntry,
    { at, partition }: { readonly at: number; readonly partition: number },
    kind: number,
    by: number,
  ): void {
    const minute = Math.floor(at / MINUTE_MS) * MINUTE_MS;
    const key = `${minute} ${accountId} ${partition}`;
    const sum = this.#sums.get(key) ?? { minute, accountId, partition, counts: {} };
    this.#sums.set(key, sum);
    addTo(sum.counts, webhookId, kind, by);
  }
}

/** @param before ms since the epoch */
export function forgetCounts(sql: Statements, before: number): void {
  for (const step of [MINUTE_MS, HOUR_MS]) forget(sql, step, Math.floor(before / HOUR_MS) * HOUR_MS);
}

/** The first hour whose minutes are kept, ms since the epoch. */
export function oldestMinute(sql: Statements): number {
  const newest = sql.row<{ at: number | null }>('SELECT max(at) AS at FROM counters WHERE step = ?', [MINUTE_MS])?.at;
  return Math.floor((newest ?? 0) / HOUR_MS) * HOUR_MS - MINUTES_KEPT_MS;
}

function forget(sql: Statements, step: number, before: number): void {
  sql.run(FORGET_COUNTS, [step, before, FORGOTTEN_AT_ONCE]);
}

function put(sql: Statements, step: number, { minute, accountId, partition, counts: added }: Sum): void {
  const key = [step, Math.floor(minute / step) * step, accountId, partition];
  const stored = sql.row<{ counts: string }>(COUNTS_OF, key);
  const counts = stored ? (JSON.parse(stored.counts) as Counts) : {};
  for (const webhookId in added) {
    const ofWebhook = added[Number(webhookId)];
    for (const kind in ofWebhook) addTo(counts, Number(webhookId), Number(kind), ofWebhook[Number(kind)] ?? 0);
  }
  sql.run(PUT_COUNTS, [...key, JSON.stringify(counts)]);
}

function addTo(counts: Counts, webhookId: number, kind: number, by: number): void {
  counts[webhookId] ??= {};
  counts[webhookId][kind] = (counts[webhookId][kind] ?? 0) + by;
}

/** The first has all below 1 ms, the last all from 2 min on. */
function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}
