/** Folds entries into the rows of their events and deliveries: an event is read, folded and written once in a batch. */
import type { ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { Tally } from './counters.js';
import { type DeliveryRow, isSuccess, putDelivery, timeOf, withEntry } from './delivery-row.js';
import { arrivalOf, type EventRow, eventRow, putEvent, withRouting } from './event-row.js';
import { escaped } from './schema.js';

const HEAR = `INSERT INTO webhooks (accountId, webhookId, eventType, since, toldAt, successAt) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET since = min(since, excluded.since), toldAt = max(toldAt, excluded.toldAt),
    successAt = max(coalesce(successAt, excluded.successAt), coalesce(excluded.successAt, successAt))`;
const EVENT_OF = 'SELECT * FROM events WHERE accountId = ? AND firstAt = ? AND payment = ?';
const ADD_ATTEMPT = `INSERT OR IGNORE INTO attempts
  (delivery, at, status, error, durationMs, version, more, accountId, webhookId, response)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ADD_REQUEST = `INSERT INTO requests (delivery, chain, accountId, recovery, state) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET recovery = coalesce(recovery, excluded.recovery)`;
const CHANGE_REQUESTS = 'UPDATE requests SET state = ? WHERE delivery = ?';

type Entry = ViewEntry | ViewRouting;

/** A delivery while its event is folded. */
interface Open {
  /** Null: it is new. */
  readonly stored: DeliveryRow | null;
  readonly row: DeliveryRow;
  /** None: nothing changes. */
  readonly entries: readonly ViewEntry[];
}

export function fold(sql: Statements, entries: readonly Entry[]): void {
  const events = new Map<string, [Entry, ...Entry[]]>();
  for (const entry of entries) {
    const key = `${entry.accountId} ${entry.payment}`;
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
  const stored = sql.row<EventRow>(EVENT_OF, [first.accountId, first.firstAt, first.payment]);
  let event = stored ?? eventRow(first);
  for (const entry of entries) {
    event = { ...event, toldAt: Math.max(event.toldAt, entry.place.timestamp) };
    if (entry.kind === 'routed') event = withRouting(event, entry);
  }
  const deliveries = folded(sql, event.row, entries);
  const arrived = arrivalOf(
    event,
    deliveries.map(({ row }) => row),
  );
  const row = putEvent(sql, { ...event, arrived });
  for (const delivery of deliveries) if (delivery.entries.length > 0) store(sql, row, delivery, tally);
}

/** All deliveries of the event, for it says how many of them arrived. @param event its row; null: it is new */
function folded(sql: Statements, event: number | null, entries: readonly Entry[]): readonly Open[] {
  const stored = event === null ? [] : sql.rows<DeliveryRow>('SELECT * FROM deliveries WHERE event = ?', [event]);
  const all = new Map<string, Open>(
    stored.map((row) => [`${row.webhookId} ${row.id}`, { stored: row, row, entries: [] }]),
  );
  for (const entry of entries) {
    if (entry.kind === 'routed') continue;
    const key = `${entry.webhookId} ${entry.id}`;
    const known = all.get(key);
    const row = withEntry(known?.row ?? null, entry);
    all.set(key, { stored: known?.stored ?? null, row, entries: [...(known?.entries ?? []), entry] });
  }
  return [...all.values()];
}

/** @param event its row */
function store(sql: Statements, event: number, { stored, row, entries }: Open, tally: Tally): void {
  const delivery = putDelivery(sql, { ...row, event });
  if (stored && stored.state !== row.state) sql.run(CHANGE_REQUESTS, [row.state, delivery]);
  if (stored) tally.stands(stored, -1);
  tally.stands(row, 1);
  for (const entry of entries) {
    const { chain, accountId, recovery, outcome } = entry;
    hear(sql, entry);
    if (putAttempt(sql, delivery, entry)) tally.attempted(entry);
    if (chain > 0 && outcome !== 'cancelled') sql.run(ADD_REQUEST, [delivery, chain, accountId, recovery, row.state]);
  }
}

/** What is known of its webhook. */
function hear(sql: Statements, { accountId, webhookId, eventType, attempt, place }: ViewEntry): void {
  const at = (attempt && timeOf(attempt.at)) || place.timestamp;
  const successAt = attempt && isSuccess(attempt.status) ? at : null;
  sql.run(HEAR, [accountId, webhookId, eventType, Math.min(at, place.timestamp), place.timestamp, successAt]);
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
