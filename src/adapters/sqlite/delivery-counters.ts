/**
 * Counts by account, minute and hour. They are sums over the rows: an attempt counts once, at its start, and the end of a
 * delivery that was not delivered once, when its deciding entry was published. An entry that changes the end moves its count.
 */
import { STATS_STEPS_MS } from '../../ports/deliveries-view.js';
import { DELIVERED, type DeliveryRow, RETRYING } from './delivery-row.js';
import type { RowChange } from './delivery-rows.js';
import type { SqliteFile } from './open-file.js';

const MINUTE_MS = STATS_STEPS_MS['1m'];
const HOUR_MS = STATS_STEPS_MS['1h'];

/** A kind of count is a state for ends; failed attempts take the place of the state that is no end. */
export const FAILED_ATTEMPT = RETRYING;
/** Successful attempts, by the bucket of their duration. */
export const SUCCEEDED = 8;
/** Their bounds grow by the square root of 2: a percentile is exact to some 20%. */
export const DURATION_BUCKETS = 36;
/** SQL: hours from here on have their minutes, 2 days beside the newest. */
export const OLDEST_WITH_MINUTES = '(SELECT max(hour) - 48 FROM minutes)';

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
  if (attempt) add(startedAt, isSuccess(attempt) ? SUCCEEDED + bucketOf(attempt.durationMs) : FAILED_ATTEMPT, 1);
  if (isMoved && isEnd(after)) add(after.said_at, after.state, 1);
}

export function isSuccess({ status }: { readonly status: number | null }): boolean {
  return status !== null && status >= 200 && status < 300;
}

function isEnd({ state }: Pick<DeliveryRow, 'state'>): boolean {
  return state !== RETRYING && state !== DELIVERED;
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

/** Of a row of minutes: hour and minute are since the epoch. */
export type MinuteKey = readonly [hour: number, accountId: number, minute: number];

interface MinuteRow {
  readonly hour: number;
  readonly account_id: number;
  readonly at: number;
  readonly counts: string;
}

const keyOf = ({ hour, account_id, at }: Omit<MinuteRow, 'counts'>): MinuteKey => [hour, account_id, at];

export class DeliveryCounters {
  readonly #sql: ReturnType<typeof statements>;
  /** Most of the newest change many times: they are not read again. */
  readonly #known = new Map<string, Counts>();
  #folded: MinuteKey = [-1, 0, 0];

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
    this.reload();
  }

  /** Call after a transaction that failed. */
  reload(): void {
    this.#known.clear();
    this.#folded = keyOf(this.#sql.folded.get() as MinuteRow);
  }

  /** The hour up to which minutes are in their hours; of the hour itself some may be. */
  get foldedHour(): number {
    return this.#folded[0];
  }

  /** Whether its hour has the counts of the minute. */
  isFolded(key: MinuteKey): boolean {
    const at = key.findIndex((part, index) => part !== this.#folded[index]);
    return at === -1 || (key[at] ?? 0) < (this.#folded[at] ?? 0);
  }

  add(accountId: number, changes: CountChanges): void {
    for (const [minute, added] of changes) {
      const key: MinuteKey = [Math.floor(minute / 60), accountId, minute];
      const counts = this.#countsAt(key);
      addAll(counts, added);
      this.#sql.putMinute.run(...key, JSON.stringify(counts));
      if (this.isFolded(key)) this.#addToHour(key, [added]);
    }
  }

  /** Adds minutes of hours that are over to their hours, and deletes minutes that are too old beside the newest. */
  fold(limit: number): void {
    const rows = this.#sql.unfolded.all(...this.#folded, limit) as MinuteRow[];
    for (let from = 0; from < rows.length; ) {
      const key = keyOf(rows[from] as MinuteRow);
      const others = rows.slice(from).findIndex(({ hour, account_id }) => hour !== key[0] || account_id !== key[1]);
      const ofHour = rows.slice(from, others === -1 ? rows.length : from + others);
      this.#addToHour(
        key,
        ofHour.map(({ counts }) => JSON.parse(counts) as Counts),
      );
      from += ofHour.length;
    }
    const last = rows.at(-1);
    if (last) this.#sql.setFolded.run(...keyOf(last));
    if (last) this.#folded = keyOf(last);
    this.#forget((this.#sql.old.all(limit) as MinuteRow[]).filter((row) => this.isFolded(keyOf(row))));
  }

  /** @param before ms since the epoch */
  forget(before: number, limit: number): void {
    const hour = Math.floor(before / HOUR_MS);
    this.#sql.forgetHours.run(hour, limit);
    this.#forget(this.#sql.before.all(hour, limit) as MinuteRow[]);
  }

  #countsAt(key: MinuteKey): Counts {
    const text = key.join(' ');
    const known = this.#known.get(text);
    if (known) return known;
    const counts = parsed(this.#sql.minute.get(...key));
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(text, counts);
    return counts;
  }

  #addToHour([hour, accountId]: MinuteKey, added: readonly Counts[]): void {
    const counts = parsed(this.#sql.hour.get(hour, accountId));
    for (const one of added) addAll(counts, one);
    this.#sql.putHour.run(hour, accountId, JSON.stringify(counts));
  }

  #forget(minutes: readonly MinuteRow[]): void {
    for (const key of minutes.map(keyOf)) {
      this.#known.delete(key.join(' '));
      this.#sql.forgetMinute.run(...key);
    }
  }
}

/** The first has all below 1 ms, the last all from 2 min on. */
function bucketOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(DURATION_BUCKETS - 1, 1 + Math.floor(2 * Math.log2(durationMs)));
}

/** @param stored counts as JSON, if there are any */
function parsed(stored: unknown): Counts {
  return JSON.parse((stored as string | undefined) ?? '{}') as Counts;
}

function statements(file: SqliteFile) {
  const first = (where: string, columns = '*') =>
    `SELECT ${columns} FROM minutes WHERE ${where} ORDER BY hour, account_id, at LIMIT +?`;
  return {
    minute: file.prepare('SELECT counts FROM minutes WHERE hour = ? AND account_id = ? AND at = ?').pluck(),
    putMinute: file.prepare('INSERT OR REPLACE INTO minutes (hour, account_id, at, counts) VALUES (?, ?, ?, ?)'),
    folded: file.prepare('SELECT hour, account_id, at FROM folded'),
    setFolded: file.prepare('UPDATE folded SET hour = ?, account_id = ?, at = ?'),
    unfolded: file.prepare(first('(hour, account_id, at) > (?, ?, ?) AND hour < (SELECT max(hour) FROM minutes)')),
    old: file.prepare(first(`hour < ${OLDEST_WITH_MINUTES}`, 'hour, account_id, at')),
    before: file.prepare(first('hour < ?', 'hour, account_id, at')),
    forgetMinute: file.prepare('DELETE FROM minutes WHERE hour = ? AND account_id = ? AND at = ?'),
    hour: file.prepare('SELECT counts FROM hours WHERE hour = ? AND account_id = ?').pluck(),
    putHour: file.prepare('INSERT OR REPLACE INTO hours (hour, account_id, counts) VALUES (?, ?, ?)'),
    forgetHours: file.prepare(
      `DELETE FROM hours WHERE (hour, account_id) IN
         (SELECT hour, account_id FROM hours WHERE hour < ? ORDER BY hour, account_id LIMIT +?)`,
    ),
  };
}
