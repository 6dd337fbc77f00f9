/**
 * Counts by account and minute, and by hour where the minutes are old. They are sums over the rows: an attempt counts once,
 * at its start, and the end of a delivery once, when its deciding entry was published. An entry that changes the end moves
 * its count.
 */
import { STATS_STEPS_MS } from '../../ports/deliveries-view.js';
import { DELIVERED, type DeliveryRow, RETRYING } from './delivery-row.js';
import type { RowChange } from './delivery-rows.js';
import { bucketOf, DURATION_BUCKETS } from './duration-histogram.js';
import type { SqliteFile } from './open-file.js';

const MINUTE_MS = STATS_STEPS_MS['1m'];
const HOUR_MS = STATS_STEPS_MS['1h'];

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
export const FAILED_ATTEMPT = RETRYING;
/** Successful attempts, by the bucket of their duration. */
export const SUCCEEDED = 8;
/** A successful attempt and the end `delivered` in one minute: nearly always, so they are one count instead of two. */
export const DELIVERED_WITHIN = SUCCEEDED + DURATION_BUCKETS;
/** SQL: hours from here on have their minutes, 2 days beside the newest. Before it, minutes may wait to be folded. */
export const OLDEST_WITH_MINUTES = '(SELECT max(hour) - 48 FROM minutes)';

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

interface MinuteRow {
  readonly hour: number;
  readonly account_id: number;
  readonly at: number;
  /** Counts as JSON. */
  readonly counts: string;
}

export class DeliveryCounters {
  readonly #sql: ReturnType<typeof statements>;
  /** Most of the newest change many times: they are not read again. */
  readonly #known = new Map<string, Counts>();

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  add(accountId: number, changes: CountChanges): void {
    for (const [minute, added] of changes) {
      const at = [hourOf(minute), accountId, minute] as const;
      const counts = this.#countsAt(at);
      addAll(counts, added);
      this.#sql.putMinute.run(...at, JSON.stringify(counts));
    }
  }

  /** Call after a transaction that failed. */
  reload(): void {
    this.#known.clear();
  }

  /** Minutes that are too old beside the newest become counts of their hours. */
  foldMinutes(limit: number): void {
    const hours = new Map<string, { readonly at: readonly [number, number]; readonly counts: Counts }>();
    for (const { hour, account_id, at, counts } of this.#sql.oldMinutes.all(limit) as MinuteRow[]) {
      const key = `${hour} ${account_id}`;
      const ofHour = hours.get(key) ?? { at: [hour, account_id], counts: this.#hour(hour, account_id) };
      addAll(ofHour.counts, JSON.parse(counts) as Counts);
      hours.set(key, ofHour);
      this.#forgetMinute([hour, account_id, at]);
    }
    for (const { at, counts } of hours.values()) this.#sql.putHour.run(...at, JSON.stringify(counts));
  }

  /** @param before ms since the epoch */
  forget(before: number, limit: number): void {
    const hour = Math.floor(before / HOUR_MS);
    this.#sql.forgetHours.run(hour, limit);
    const minutes = this.#sql.minutesBefore.all(hour, limit) as MinuteRow[];
    for (const { hour, account_id, at } of minutes) this.#forgetMinute([hour, account_id, at]);
  }

  #countsAt(at: readonly [number, number, number]): Counts {
    const key = at.join(' ');
    const known = this.#known.get(key);
    if (known) return known;
    const counts = JSON.parse((this.#sql.minute.get(...at) as string | undefined) ?? '{}') as Counts;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(key, counts);
    return counts;
  }

  #hour(hour: number, accountId: number): Counts {
    return JSON.parse((this.#sql.hour.get(hour, accountId) as string | undefined) ?? '{}') as Counts;
  }

  #forgetMinute(at: readonly [number, number, number]): void {
    this.#known.delete(at.join(' '));
    this.#sql.forgetMinute.run(...at);
  }
}

function hourOf(minute: number): number {
  return Math.floor(minute / 60);
}

function statements(file: SqliteFile) {
  const oldest = (before: string) =>
    `SELECT * FROM minutes WHERE hour < ${before} ORDER BY hour, account_id, at LIMIT ?`;
  return {
    minute: file.prepare('SELECT counts FROM minutes WHERE hour = ? AND account_id = ? AND at = ?').pluck(),
    putMinute: file.prepare('INSERT OR REPLACE INTO minutes (hour, account_id, at, counts) VALUES (?, ?, ?, ?)'),
    oldMinutes: file.prepare(oldest(OLDEST_WITH_MINUTES)),
    minutesBefore: file.prepare(oldest('?')),
    forgetMinute: file.prepare('DELETE FROM minutes WHERE hour = ? AND account_id = ? AND at = ?'),
    hour: file.prepare('SELECT counts FROM hours WHERE hour = ? AND account_id = ?').pluck(),
    putHour: file.prepare('INSERT OR REPLACE INTO hours (hour, account_id, counts) VALUES (?, ?, ?)'),
    forgetHours: file.prepare(
      `DELETE FROM hours WHERE (hour, account_id) IN
         (SELECT hour, account_id FROM hours WHERE hour < ? ORDER BY hour, account_id LIMIT ?)`,
    ),
  };
}
