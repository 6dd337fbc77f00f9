/**
 * Counts by account, step and partition. They are sums over the rows: an attempt counts once, at its start, and the end of a
 * delivery that was not delivered once, when the entry that holds was published. An entry that changes the end moves its count.
 * Whoever reads them adds up the partitions.
 */
import { STATS_STEPS_MS } from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { STATE } from './delivery-row.js';
import type { DeliveryChange, Held } from './delivery-writer.js';

/** The steps that are stored. */
export const MINUTE_MS = STATS_STEPS_MS['1m'];
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

interface Sum {
  readonly at: number;
  readonly accountId: number;
  readonly partition: number;
  readonly counts: Counts;
}

type Sums = Map<string, Sum>;

export class Counters {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  add(changes: readonly DeliveryChange[]): void {
    const minutes: Sums = new Map();
    for (const change of changes) count(minutes, change);
    const hours: Sums = new Map();
    for (const { at, accountId, partition, counts } of minutes.values()) {
      addAll(sumOf(hours, HOUR_MS, [at, accountId, partition]).counts, counts);
    }
    for (const sum of minutes.values()) this.#put(MINUTE_MS, sum);
    for (const sum of hours.values()) this.#put(HOUR_MS, sum);
    if (minutes.size > 0) this.#forget(MINUTE_MS, this.oldestMinute());
  }

  /** The first hour whose minutes are kept, ms since the epoch. */
  oldestMinute(): number {
    const newest = (this.#sql.newest.get(MINUTE_MS) as number | null) ?? 0;
    return Math.floor(newest / HOUR_MS) * HOUR_MS - MINUTES_KEPT_MS;
  }

  /** @param before ms since the epoch */
  forget(before: number): void {
    const hour = Math.floor(before / HOUR_MS) * HOUR_MS;
    for (const step of [MINUTE_MS, HOUR_MS]) this.#forget(step, hour);
  }

  #forget(step: number, before: number): void {
    this.#sql.forget.run(step, before, FORGOTTEN_AT_ONCE);
  }

  #put(step: number, { at, accountId, partition, counts: added }: Sum): void {
    const stored = this.#sql.counts.get(step, at, accountId, partition) as string | undefined;
    const counts = stored === undefined ? {} : (JSON.parse(stored) as Counts);
    addAll(counts, added);
    this.#sql.put.run(step, at, accountId, partition, JSON.stringify(counts));
  }
}

/** By minute. */
function count(sums: Sums, { entry, before, after, attempts }: DeliveryChange): void {
  const { accountId, webhookId } = entry;
  const add = (ms: number, partition: number, kind: number, by: number) => {
    addTo(sumOf(sums, MINUTE_MS, [ms, accountId, partition]).counts, webhookId, kind, by);
  };
  for (const attempt of attempts) {
    const kind = attempt.has_failed ? FAILED_ATTEMPT : SUCCEEDED + bucketOf(attempt.duration_ms);
    add(attempt.at, attempt.partition, kind, 1);
  }
  if (before && isSame(before, after)) return;
  if (before && isEnd(before)) add(before.said_at, before.partition, before.state, -1);
  if (isEnd(after)) add(after.said_at, after.partition, after.state, 1);
}

function sumOf(sums: Sums, step: number, [ms, accountId, partition]: readonly [number, number, number]): Sum {
  const at = Math.floor(ms / step) * step;
  const key = `${at} ${accountId} ${partition}`;
  const known = sums.get(key);
  if (known) return known;
  const sum = { at, accountId, partition, counts: {} };
  sums.set(key, sum);
  return sum;
}

function isSame(before: Held, after: Held): boolean {
  return before.state === after.state && before.said_at === after.said_at && before.partition === after.partition;
}

function isEnd({ state }: Held): boolean {
  return state > STATE.retrying;
}

function addAll(counts: Counts, added: Counts): void {
  for (const webhookId in added) {
    const ofWebhook = added[Number(webhookId)];
    for (const kind in ofWebhook) addTo(counts, Number(webhookId), Number(kind), ofWebhook[Number(kind)] ?? 0);
  }
}

function addTo(counts: Counts, webhookId: number, kind: number, by: number): void {
  let ofWebhook = counts[webhookId];
  if (!ofWebhook) counts[webhookId] = ofWebhook = {};
  ofWebhook[kind] = (ofWebhook[kind] ?? 0) + by;
}

/** The first has all below 1 ms, the last all from 2 min on. */
function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

function statements(file: SqliteFile) {
  const key = 'step = ? AND at = ? AND account_id = ? AND partition = ?';
  return {
    counts: file.prepare(`SELECT counts FROM counters WHERE ${key}`).pluck(),
    put: file.prepare(
      'INSERT OR REPLACE INTO counters (step, at, account_id, partition, counts) VALUES (?, ?, ?, ?, ?)',
    ),
    newest: file.prepare('SELECT max(at) FROM counters WHERE step = ?').pluck(),
    forget: file.prepare(
      `DELETE FROM counters WHERE (step, at, account_id, partition) IN
         (SELECT step, at, account_id, partition FROM counters WHERE step = ? AND at < ? LIMIT +?)`,
    ),
  };
}
