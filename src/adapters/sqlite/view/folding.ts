/** Folds entries into the rows of their events and deliveries: an event is read, folded and written once in a batch. */
import type { ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import {
  DELIVERIES_OF,
  type DeliveryRow,
  deliveryValues,
  type Folded,
  foldedIn,
  isSuccess,
  PUT_DELIVERY,
  STATE,
  stateOf,
  timeOf,
  withEntry,
} from './delivery-row.js';
import { arrivalOf, EVENT, type EventRow, eventRow, PUT_EVENT, paymentOf, withRouting } from './event-row.js';
import { escaped } from './schema.js';
import { Tally } from './tally.js';

const EVENT_OF = 'SELECT * FROM events WHERE accountId = ? AND firstAt = ? AND payment = ?';
const ROUTE = 'INSERT OR IGNORE INTO routings (accountId, partition, offset, idx, event) VALUES (?, ?, ?, ?, ?)';
const STAND = `INSERT INTO standing (accountId, webhookId, state, deliveries) VALUES (?, ?, ?, 1)
  ON CONFLICT DO UPDATE SET deliveries = deliveries + 1`;
const RECOVER = 'INSERT OR IGNORE INTO recovered (accountId, recovery, delivery, state) VALUES (?, ?, ?, ?)';
const ATTEMPT = ['delivery', 'at', 'status', 'error', 'durationMs', 'version', 'more'];
const ADD_ATTEMPT = `INSERT OR IGNORE INTO attempts (${ATTEMPT.join()}, accountId, webhookId, hasFailed, response)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ANSWER_ATTEMPT = `UPDATE attempts SET response = max(coalesce(response, ''), ?)
  WHERE ${ATTEMPT.map((name) => `${name} = ?`).join(' AND ')}`;

type Entry = ViewEntry | ViewRouting;

/** A delivery while its event is folded. */
interface Open {
  readonly webhookId: number;
  readonly stored: DeliveryRow | null;
  readonly entries: ViewEntry[];
  /** Null: no entry changes it. */
  folded: Folded | null;
}

export function fold(sql: Statements, entries: readonly Entry[]): void {
  const events = new Map<string, [Entry, ...Entry[]]>();
  for (const entry of entries) {
    const key = `${entry.accountId} ${entry.firstAt} ${paymentOf(entry)}`;
    const known = events.get(key);
    if (known) known.push(entry);
    else events.set(key, [entry]);
  }
  const tally = new Tally();
  for (const ofEvent of events.values()) foldEvent(sql, ofEvent, tally);
  tally.store(sql);
}

function foldEvent(sql: Statements, entries: readonly [Entry, ...Entry[]], tally: Tally): void {
  const [first] = entries;
  const stored = sql.row<EventRow>(EVENT_OF, [first.accountId, first.firstAt, paymentOf(first)]);
  let event = stored ?? eventRow(first);
  for (const entry of entries) if (entry.kind === 'routed') event = withRouting(event, entry);
  const deliveries = folded(sql, event.row, entries);
  const row = putEvent(sql, stored, { ...event, arrived: arrivalOf(event, deliveries.map(shortOf)) });
  for (const entry of entries) {
    if (entry.kind !== 'routed') continue;
    const { accountId, place, index } = entry;
    sql.run(ROUTE, [accountId, place.partition, place.offset, index, row]);
  }
  for (const delivery of deliveries) putDelivery(sql, row, delivery, tally);
}

/** All deliveries of the event, for it says how many of them arrived. @param event its row; null: it is new */
function folded(sql: Statements, event: number | null, entries: readonly Entry[]): readonly Open[] {
  const stored = event === null ? [] : sql.rows<DeliveryRow>(DELIVERIES_OF, [event]);
  const all = new Map(stored.map((row) => [`${row.webhookId} ${row.id}`, opened(row.webhookId, row)]));
  for (const entry of entries) {
    if (entry.kind === 'routed') continue;
    const key = `${entry.webhookId} ${entry.id}`;
    const open = all.get(key) ?? opened(entry.webhookId, null);
    all.set(key, open);
    open.entries.push(entry);
    open.folded = withEntry(open.folded ?? (open.stored && foldedIn(open.stored)), entry);
  }
  return [...all.values()];
}

function opened(webhookId: number, stored: DeliveryRow | null): Open {
  return { webhookId, stored, entries: [], folded: null };
}

function shortOf({ webhookId, stored, folded: changed }: Open) {
  return { webhookId, state: changed ? stateOf(changed) : (stored as DeliveryRow).state };
}

function putEvent(sql: Statements, stored: EventRow | undefined, event: EventRow): number {
  if (stored && EVENT.every((name) => stored[name] === event[name])) return stored.row as number;
  const { lastInsertRowid } = sql.run(
    PUT_EVENT,
    EVENT.map((name) => event[name]),
  );
  return event.row ?? Number(lastInsertRowid);
}

/** @param event its row */
function putDelivery(sql: Statements, event: number, { stored, entries, folded: changed }: Open, tally: Tally): void {
  const [entry] = entries;
  if (!entry || !changed) return;
  const { lastInsertRowid } = sql.run(PUT_DELIVERY, deliveryValues(stored?.row ?? null, event, entry, changed));
  const row = stored?.row ?? Number(lastInsertRowid);
  const state = stateOf(changed);
  if (stored) tally.ended(entry, foldedIn(stored), -1);
  else if (state !== STATE.delivered) sql.run(STAND, [entry.accountId, entry.webhookId, state]);
  tally.ended(entry, changed, 1);
  for (const one of entries) {
    const { accountId, recovery, outcome } = one;
    tally.heard(one, putAttempt(sql, row, one));
    if (recovery !== null && outcome !== 'cancelled') sql.run(RECOVER, [accountId, recovery, row, state]);
  }
}

/** @param delivery its row @returns whether it was not known */
function putAttempt(sql: Statements, delivery: number, entry: ViewEntry): boolean {
  const { attempt, accountId, webhookId, response } = entry;
  if (!attempt) return false;
  const { at, status, error, durationMs, version, reason, trigger, actor } = attempt;
  const isPlain = reason === undefined && trigger === undefined && actor === undefined;
  const more = isPlain ? '' : JSON.stringify({ reason, trigger, actor });
  const key = [delivery, timeOf(at), status ?? 0, escaped(error) ?? '', durationMs, version, more];
  const hasFailed = Number(!isSuccess(status));
  const isNew = sql.run(ADD_ATTEMPT, [...key, accountId, webhookId, hasFailed, response]).changes > 0;
  if (!isNew && response !== null) sql.run(ANSWER_ATTEMPT, [response, ...key]);
  return isNew;
}
