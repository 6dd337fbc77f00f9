/**
 * Counts by account, minute and hour. They are sums over the rows: an attempt counts once, at its start, and the end of a
 * delivery once, when its deciding entry was published. An entry that changes the end moves its count.
 */
import { STATS_STEPS_MS } from '../../ports/deliveries-view.js';
import { DELIVERED, type DeliveryRow, RETRYING } from './delivery-row.js';
import type { RowChange } from './delivery-rows.js';
import { bucketOf, DURATION_BUCKETS } from './duration-histogram.js';
import type { SqliteFile, SqliteStatement } from './open-file.js';

const MINUTE_MS = STATS_STEPS_MS['1m'];
const HOUR_MS = STATS_STEPS_MS['1h'];

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
export const FAILED_ATTEMPT = RETRYING;
/** Successful attempts, by the bucket of their duration. */
export const SUCCEEDED = 8;
/** A successful attempt and the end `delivered` in one minute: nearly always, so they are one count instead of two. */
export const DELIVERED_WITHIN = SUCCEEDED + DURATION_BUCKETS;
/** SQL: counts by minute are kept from here on, 2 days beside the newest. */
export const OLDEST_MINUTE = '(SELECT max(at) - 2880 FROM minutes)';

/** Rows. */
const MOST_KNOWN = 5_000;

/** By webhook and kind. */
export interface Counts {
  [webhookId: number]: { [kind: number]: number };
}

/** Changes of an account's counts, by minute since the epoch. */
export type CountChanges = Map<number, Counts>;

/** @param startedAt of the change's attempt, ms since the epoch */
export function addCounts(changes: CountChanges, change: RowChange, startedAt: number): void {
  const { attempt, before, after, entry } = change;
  const add = (at: number, kind: number, by: number) => {
    const minute = Math.floor(at / MINUTE_MS);
    const counts = changes.get(minute) ?? {};
    addTo(counts, entry.webhookId, kind, by);
    changes.set(minute, counts);
  };
  const isMoved = before === null || before.state !== after.state || before.said_at !== after.said_at;
  if (before !== null && isMoved && isEnd(before)) add(before.said_at, before.state, -1);
  const isEnded = isMoved && isEnd(after);
  if (attempt && isSuccess(attempt) && isEnded && isSameMinute(startedAt, after)) {
    add(startedAt, DELIVERED_WITHIN + bucketOf(attempt.durationMs), 1);
    return;
  }
  if (attempt) add(startedAt, isSuccess(attempt) ? SUCCEEDED + bucketOf(attempt.durationMs) : FAILED_ATTEMPT, 1);
  if (isEnded) add(after.said_at, after.state, 1);
}

export function isSuccess({ status }: { readonly status: number | null }): boolean {
  return status !== null && status >= 200 && status < 300;
}

function isEnd({ state }: Pick<DeliveryRow, 'state'>): boolean {
  return state !== RETRYING;
}

function isSameMinute(startedAt: number, { state, said_at }: Pick<DeliveryRow, 'state' | 'said_at'>): boolean {
  return state === DELIVERED && Math.floor(startedAt / MINUTE_MS) === Math.floor(said_at / MINUTE_MS);
}

function addTo(counts: Counts, webhookId: number, kind: number, by: number): void {
  let ofWebhook = counts[webhookId];
  if (!ofWebhook) counts[webhookId] = ofWebhook = {};
  const sum = (ofWebhook[kind] ?? 0) + by;
  if (sum === 0) delete ofWebhook[kind];
  else ofWebhook[kind] = sum;
}

function addAll(counts: Counts, added: Counts): void {
  for (const webhookId in added) {
    const ofWebhook = added[Number(webhookId)];
    for (const kind in ofWebhook) addTo(counts, Number(webhookId), Number(kind), ofWebhook[Number(kind)] ?? 0);
  }
}

export class DeliveryCounters {
  readonly #minutes: CountTable;
  readonly #hours: CountTable;

  constructor(file: SqliteFile) {
    this.#minutes = new CountTable(file, 'minutes');
    this.#hours = new CountTable(file, 'hours');
  }

  add(accountId: number, changes: CountChanges): void {
    const hours: CountChanges = new Map();
    for (const [minute, counts] of changes) {
      this.#minutes.add(minute, accountId, counts);
      const hour = Math.floor(minute / 60);
      const ofHour = hours.get(hour) ?? {};
      addAll(ofHour, counts);
      hours.set(hour, ofHour);
    }
    for (const [hour, counts] of hours) this.#hours.add(hour, accountId, counts);
  }

  /** Call after a transaction that failed. */
  reload(): void {
    this.#minutes.reload();
    this.#hours.reload();
  }

  /** Counts by minute that are too old beside the newest. */
  forgetMinutes(limit: number): void {
    this.#minutes.forget(null, limit);
  }

  /** @param before ms since the epoch */
  forgetHours(before: number, limit: number): void {
    this.#hours.forget(Math.floor(before / HOUR_MS), limit);
  }
}

class CountTable {
  readonly #find: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #forget: SqliteStatement;
  /** Of the newest times most rows change many times: they are not read again. */
  readonly #known = new Map<string, Counts>();

  constructor(file: SqliteFile, table: 'minutes' | 'hours') {
    this.#find = file.prepare(`SELECT counts FROM ${table} WHERE at = ? AND account_id = ?`).pluck();
    this.#put = file.prepare(`INSERT OR REPLACE INTO ${table} (at, account_id, counts) VALUES (?, ?, ?)`);
    this.#forget = file.prepare(
      `DELETE FROM ${table} WHERE (at, account_id) IN
         (SELECT at, account_id FROM ${table} WHERE at < coalesce(?, ${OLDEST_MINUTE}) ORDER BY at, account_id LIMIT ?)`,
    );
  }

  /** Call after a transaction that failed. */
  reload(): void {
    this.#known.clear();
  }

  add(at: number, accountId: number, added: Counts): void {
    const key = `${at} ${accountId}`;
    const stored = this.#known.has(key) ? undefined : (this.#find.get(at, accountId) as string | undefined);
    const counts = this.#known.get(key) ?? (JSON.parse(stored ?? '{}') as Counts);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    addAll(counts, added);
    this.#known.set(key, counts);
    this.#put.run(at, accountId, JSON.stringify(counts));
  }

  /** @param before in minutes or hours; null: OLDEST_MINUTE */
  forget(before: number | null, limit: number): void {
    if (this.#forget.run(before, limit).changes > 0) this.reload();
  }
}
