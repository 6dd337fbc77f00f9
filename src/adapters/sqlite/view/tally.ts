/**
 * What a batch adds to counters, and to what is kept of each webhook. Counters are sums over the rows: an attempt counts once,
 * at its start; the end of a delivery that was not delivered counts once, when the entry that holds was published. An entry
 * that changes the end moves its count. A step of 0 counts the deliveries that have a state now.
 */
import { STATS_STEPS_MS, type ViewEntry } from '../../../ports/deliveries-view.js';
import { statusOf } from '../../../ports/delivery-order.js';
import type { Statements } from '../statements.js';
import { type Folded, isSuccess, STATE, stateOf, timeOf } from './delivery-row.js';

const STEPS = Object.values(STATS_STEPS_MS);
const MINUTE_MS = STATS_STEPS_MS['1m'];
export const HOUR_MS = STATS_STEPS_MS['1h'];
/** Minutes are kept for so long, beside the newest. */
const MINUTES_KEPT_MS = 48 * HOUR_MS;
const FORGOTTEN_AT_ONCE = 5_000;

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
export const FAILED_ATTEMPT = STATE.retrying;
/** Successful attempts, by the bucket of their duration. */
export const SUCCEEDED = 8;
/** Their bounds grow by the square root of 2: a percentile is exact to some 20%. */
export const DURATION_BUCKETS = 36;

const KEY = 'step, at, accountId, webhookId, kind';
const ADD_COUNT = `INSERT INTO counters (${KEY}, n) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n`;
const FORGET_COUNTS = `DELETE FROM counters WHERE (${KEY}) IN
  (SELECT ${KEY} FROM counters WHERE step = ? AND at < ? LIMIT +?)`;
const PUT_WEBHOOK = `INSERT INTO webhooks (accountId, webhookId, eventType, since, toldAt, successAt) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET since = min(since, excluded.since), toldAt = max(toldAt, excluded.toldAt),
    successAt = max(coalesce(successAt, excluded.successAt), coalesce(excluded.successAt, successAt))`;

interface Heard {
  readonly entry: ViewEntry;
  since: number;
  toldAt: number;
  successAt: number | null;
}

export class Tally {
  readonly #counts = new Map<string, { readonly key: readonly number[]; n: number }>();
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
    this.#happened(
      entry,
      timeOf(attempt.at),
      hasSucceeded ? SUCCEEDED + bucketOf(attempt.durationMs) : FAILED_ATTEMPT,
      1,
    );
  }

  /** @param by -1 takes back what was counted */
  stands(entry: ViewEntry, folded: Folded, by: 1 | -1): void {
    const state = stateOf(folded);
    if (state !== STATE.delivered) this.#add(0, 0, entry, state, by);
    if (state > STATE.retrying) this.#happened(entry, statusOf(folded.fold).at, state, by);
  }

  store(sql: Statements): void {
    for (const { key, n } of this.#counts.values()) if (n !== 0) sql.run(ADD_COUNT, [...key, n]);
    if (this.#counts.size > 0) forget(sql, MINUTE_MS, oldestMinute(sql));
    for (const { entry, since, toldAt, successAt } of this.#webhooks.values()) {
      sql.run(PUT_WEBHOOK, [entry.accountId, entry.webhookId, entry.eventType, since, toldAt, successAt]);
    }
  }

  #happened(entry: ViewEntry, at: number, kind: number, by: number): void {
    for (const step of STEPS) this.#add(step, Math.floor(at / step) * step, entry, kind, by);
  }

  #add(step: number, at: number, { accountId, webhookId }: ViewEntry, kind: number, by: number): void {
    const key = [step, at, accountId, webhookId, kind];
    const name = key.join();
    const count = this.#counts.get(name) ?? { key, n: 0 };
    this.#counts.set(name, count);
    count.n += by;
  }
}

/** @param before ms since the epoch */
export function forgetCounts(sql: Statements, before: number): void {
  for (const step of STEPS) forget(sql, step, Math.floor(before / HOUR_MS) * HOUR_MS);
}

/** The first hour whose minutes are kept, ms since the epoch. */
export function oldestMinute(sql: Statements): number {
  const newest = sql.row<{ at: number | null }>('SELECT max(at) AS at FROM counters WHERE step = ?', [MINUTE_MS])?.at;
  return Math.floor((newest ?? 0) / HOUR_MS) * HOUR_MS - MINUTES_KEPT_MS;
}

function forget(sql: Statements, step: number, before: number): void {
  sql.run(FORGET_COUNTS, [step, before, FORGOTTEN_AT_ONCE]);
}

/** The first has all below 1 ms, the last all from 2 min on. */
function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}
