/** Folds entries into the rows of their events and deliveries: an event is read, folded and written once in a batch. */
import type { ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { Tally } from './counters.js';
import { type AttemptRow, attemptRow, type DeliveryRow, putDelivery, withEntry } from './delivery-row.js';
import { arrivalOf, type EventRow, eventRow, putEvent, tell } from './event-row.js';

const DELIVERIES_OF = 'SELECT * FROM deliveries WHERE event = ?';
const EVENT_OF = 'SELECT * FROM events WHERE accountId = ? AND firstAt = ? AND payment = ?';
const ADD_ATTEMPT = `INSERT OR IGNORE INTO attempts
  (delivery, at, status, error, durationMs, version, more, accountId, webhookId, response)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const ADD_REQUEST = `INSERT INTO requests (delivery, chain, accountId, recovery, state)
  SELECT row, ?, accountId, ?, state FROM deliveries WHERE row = ?
  ON CONFLICT DO UPDATE SET recovery = coalesce(recovery, excluded.recovery)`;
const CHANGE_REQUESTS = 'UPDATE requests SET state = ? WHERE delivery = ?';

type Entry = ViewEntry | ViewRouting;

/** A delivery before a batch (undefined: it is new), after it, and its entries in the batch. */
interface Changed {
  readonly before: DeliveryRow | undefined;
  after: DeliveryRow;
  readonly entries: (readonly [ViewEntry, AttemptRow | null])[];
}

export function fold(sql: Statements, entries: readonly Entry[]): void {
  const tally = new Tally();
  for (const ofEvent of byEvent(entries)) foldEvent(sql, ofEvent, tally);
  tally.store(sql);
}

function byEvent(entries: readonly Entry[]): Iterable<readonly [Entry, ...Entry[]]> {
  const all = new Map<string, [Entry, ...Entry[]]>();
  for (const entry of entries) {
    const name = `${entry.accountId} ${entry.payment}`;
    const known = all.get(name);
    if (known) known.push(entry);
    else all.set(name, [entry]);
  }
  return all.values();
}

function foldEvent(sql: Statements, entries: readonly [Entry, ...Entry[]], tally: Tally): void {
  const [first] = entries;
  const event = sql.row<EventRow>(EVENT_OF, [first.accountId, first.firstAt, first.payment]) ?? eventRow(first);
  const stored = event.row === null ? [] : sql.rows<DeliveryRow>(DELIVERIES_OF, [event.row]);
  const all = stored.map((row): Changed => ({ before: row, after: row, entries: [] }));
  for (const entry of entries) {
    tell(event, entry);
    if (entry.kind === 'delivery') change(all, entry);
  }
  const deliveries = all.map(({ after }) => after);
  event.arrived = arrivalOf(event, deliveries);
  const row = putEvent(sql, event);
  for (const one of all) if (one.entries.length > 0) store(sql, row, one, tally);
}

function change(all: Changed[], entry: ViewEntry): void {
  const known = all.find(({ after }) => after.webhookId === entry.webhookId && after.id === entry.id);
  const attempt = entry.attempt && attemptRow(entry.attempt);
  const after = withEntry(known?.after, entry, attempt);
  if (!known) all.push({ before: undefined, after, entries: [[entry, attempt]] });
  else {
    known.after = after;
    known.entries.push([entry, attempt]);
  }
}

/** @param event its row */
function store(sql: Statements, event: number, { before, after, entries }: Changed, tally: Tally): void {
  after.event = event;
  const delivery = putDelivery(sql, after);
  const [last] = entries.at(-1) as Changed['entries'][number];
  if (before) tally.stands(before, last, -1);
  tally.stands(after, last, 1);
  if (before) sql.run(CHANGE_REQUESTS, [after.state, delivery]);
  for (const [entry, attempt] of entries) {
    const { chain, outcome, recovery } = entry;
    if (chain > 0 && outcome !== 'cancelled') sql.run(ADD_REQUEST, [chain, recovery, delivery]);
    if (attempt && putAttempt(sql, delivery, attempt, entry)) tally.attempted(entry, attempt);
  }
}

/** @param delivery its row @returns whether the attempt was not known */
function putAttempt(sql: Statements, delivery: number, attempt: AttemptRow, of: ViewEntry): boolean {
  const { triedAt, status, error, durationMs, version, more, response } = attempt;
  const key = [delivery, triedAt, status, error, durationMs, version, more];
  return sql.run(ADD_ATTEMPT, [...key, of.accountId, of.webhookId, response]).changes > 0;
}
