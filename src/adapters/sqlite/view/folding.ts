/** Folds entries into the rows of their events and deliveries: an event is read, folded and written once in a batch. */
import type { ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { Tally } from './counters.js';
import { type DeliveryRow, isSuccess, putDelivery, timeOf, withEntries } from './delivery-row.js';
import { arrivalOf, type EventRow, eventRow, putEvent, withTold } from './event-row.js';
import { escaped } from './schema.js';

const HEAR = `INSERT INTO webhooks (accountId, webhookId, eventType, since, toldAt, successAt) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET since = min(since, excluded.since), toldAt = max(toldAt, excluded.toldAt),
    successAt = max(coalesce(successAt, excluded.successAt), coalesce(excluded.successAt, successAt))`;
const DELIVERIES_OF = 'SELECT * FROM deliveries WHERE event = ?';
const EVENT_OF = 'SELECT * FROM events WHERE accountId = ? AND firstAt = ? AND payment = ?';
const ADD_ATTEMPT = `INSERT OR IGNORE INTO attempts
  (delivery, at, status, error, durationMs, version, more, accountId, webhookId, response)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ADD_REQUEST = `INSERT INTO requests (delivery, chain, accountId, recovery, state) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET recovery = coalesce(recovery, excluded.recovery)`;
const CHANGE_REQUESTS = 'UPDATE requests SET state = ? WHERE delivery = ?';

type Entry = ViewEntry | ViewRouting;

/** A delivery before a batch (null: it is new), after it, and what changes it. */
interface Changed {
  readonly stored: DeliveryRow | null;
  readonly row: DeliveryRow;
  readonly entries: readonly ViewEntry[];
}

export function fold(sql: Statements, entries: readonly Entry[]): void {
  const tally = new Tally();
  for (const ofEvent of groups(entries, ({ accountId, payment }) => `${accountId} ${payment}`)) {
    foldEvent(sql, ofEvent, tally);
  }
  tally.store(sql);
  const told = entries.filter((entry) => entry.kind === 'delivery');
  for (const ofWebhook of groups(told, ({ accountId, webhookId }) => `${accountId} ${webhookId}`)) hear(sql, ofWebhook);
}

function groups<T>(items: readonly T[], nameOf: (item: T) => string): Iterable<readonly [T, ...T[]]> {
  const all = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const name = nameOf(item);
    const known = all.get(name);
    if (known) known.push(item);
    else all.set(name, [item]);
  }
  return all.values();
}

function foldEvent(sql: Statements, entries: readonly [Entry, ...Entry[]], tally: Tally): void {
  const [first] = entries;
  let event = sql.row<EventRow>(EVENT_OF, [first.accountId, first.firstAt, first.payment]) ?? eventRow(first);
  for (const entry of entries) event = withTold(event, entry);
  const stored = event.row === null ? [] : sql.rows<DeliveryRow>(DELIVERIES_OF, [event.row]);
  const changed = changedBy(entries, stored);
  const others = stored.filter((row) => changed.every((one) => one.stored !== row));
  const arrived = arrivalOf(event, [...others, ...changed.map(({ row }) => row)]);
  const row = putEvent(sql, { ...event, arrived });
  for (const one of changed) store(sql, row, one, tally);
}

function changedBy(entries: readonly Entry[], known: readonly DeliveryRow[]): readonly Changed[] {
  const told = entries.filter((entry) => entry.kind === 'delivery');
  return Array.from(
    groups(told, ({ webhookId, id }) => `${webhookId} ${id}`),
    (ofDelivery) => {
      const [{ webhookId, id }] = ofDelivery;
      const stored = known.find((row) => row.webhookId === webhookId && row.id === id) ?? null;
      return { stored, row: withEntries(stored, ofDelivery), entries: ofDelivery };
    },
  );
}

/** @param event its row */
function store(sql: Statements, event: number, { stored, row, entries }: Changed, tally: Tally): void {
  const delivery = putDelivery(sql, { ...row, event });
  if (stored && stored.state !== row.state) sql.run(CHANGE_REQUESTS, [row.state, delivery]);
  if (stored) tally.stands(stored, -1);
  tally.stands(row, 1);
  for (const entry of entries) {
    const { chain, accountId, recovery, outcome } = entry;
    if (putAttempt(sql, delivery, entry)) tally.attempted(entry);
    if (chain > 0 && outcome !== 'cancelled') sql.run(ADD_REQUEST, [delivery, chain, accountId, recovery, row.state]);
  }
}

/** What they say of their webhook. */
function hear(sql: Statements, entries: readonly [ViewEntry, ...ViewEntry[]]): void {
  const [{ accountId, webhookId, eventType, place }] = entries;
  let [since, toldAt] = [place.timestamp, place.timestamp];
  let successAt: number | null = null;
  for (const { attempt, place } of entries) {
    const at = (attempt && timeOf(attempt.at)) || place.timestamp;
    since = Math.min(since, at, place.timestamp);
    toldAt = Math.max(toldAt, place.timestamp);
    if (attempt && isSuccess(attempt.status)) successAt = Math.max(successAt ?? 0, at);
  }
  sql.run(HEAR, [accountId, webhookId, eventType, since, toldAt, successAt]);
}

/** @param delivery its row @returns whether it was not known */
function putAttempt(
  sql: Statements,
  delivery: number,
  { attempt, accountId, webhookId, response }: ViewEntry,
): boolean {
  if (!attempt) return false;
  const { at, status, error, durationMs, version, reason, trigger, actor } = attempt;
  const isPlain = reason === undefined && trigger === undefined && actor === undefined;
  const more = isPlain ? '' : JSON.stringify({ reason, trigger, actor });
  const key = [delivery, timeOf(at), status ?? 0, escaped(error) ?? '', durationMs, version, more];
  return sql.run(ADD_ATTEMPT, [...key, accountId, webhookId, response]).changes > 0;
}
