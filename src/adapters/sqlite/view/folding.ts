/** Folds entries into the rows of their events and deliveries: an event is read, folded and written once in a batch. */
import type { ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import type { Statements } from '../statements.js';
import { Tally } from './counters.js';
import { type AttemptRow, attemptRow, type DeliveryRow, putDelivery, withEntry } from './delivery-row.js';
import { arrivalOf, type EventRow, eventRow, MAX_OF_EVENT, putEvent, routedIn, tell } from './event-row.js';
import { NewBlocks } from './found-rows.js';
import { offsetIn } from './schema.js';

const DELIVERIES_OF = 'SELECT * FROM deliveries WHERE event = ?';
const EVENT_OF = 'SELECT * FROM events WHERE accountId = ? AND firstAt = ? AND paymentOffset = ? AND payment = ?';
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

/** What a batch adds to tables that many of its rows share. */
interface Batch {
  readonly tally: Tally;
  readonly events: NewBlocks;
  readonly deliveries: NewBlocks;
}

export function fold(sql: Statements, entries: readonly Entry[]): void {
  const batch = { tally: new Tally(), events: new NewBlocks('events'), deliveries: new NewBlocks('deliveries') };
  for (const ofEvent of byEvent(entries)) foldEvent(sql, ofEvent, batch);
  for (const shared of Object.values(batch)) shared.store(sql);
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

function foldEvent(sql: Statements, entries: readonly [Entry, ...Entry[]], batch: Batch): void {
  const [first] = entries;
  const { accountId, firstAt, payment } = first;
  const event = sql.row<EventRow>(EVENT_OF, [accountId, firstAt, offsetIn(payment), payment]) ?? eventRow(first);
  const stored = event.row === null ? [] : sql.rows<DeliveryRow>(DELIVERIES_OF, [event.row]);
  const byDelivery = new Map(stored.map((row) => [keyOf(row), { before: row, after: row, entries: [] } as Changed]));
  const routed = new Set(routedIn(event));
  for (const entry of entries) {
    tell(event, entry, routed);
    if (entry.kind === 'delivery') change(byDelivery, entry);
  }
  event.webhooks = JSON.stringify([...routed]);
  const all = [...byDelivery.values()];
  const deliveries = all.map(({ after }) => after);
  event.arrived = arrivalOf(event, deliveries);
  const row = putEvent(sql, event);
  if (event.row === null) batch.events.add(accountId, row);
  for (const one of all) if (one.entries.length > 0) store(sql, row, one, batch);
}

function change(all: Map<string, Changed>, entry: ViewEntry): void {
  const key = keyOf(entry);
  const known = all.get(key);
  if (!known && all.size >= MAX_OF_EVENT) return;
  const attempt = entry.attempt && attemptRow(entry.attempt);
  const after = withEntry(known?.after, entry, attempt);
  if (!known) all.set(key, { before: undefined, after, entries: [[entry, attempt]] });
  else {
    known.after = after;
    known.entries.push([entry, attempt]);
  }
}

function keyOf({ webhookId, id }: Pick<DeliveryRow, 'webhookId' | 'id'>): string {
  return `${webhookId} ${id}`;
}

/** @param event its row */
function store(
  sql: Statements,
  event: number,
  { before, after, entries }: Changed,
  { tally, deliveries }: Batch,
): void {
  after.event = event;
  const delivery = putDelivery(sql, after);
  const [last] = entries.at(-1) as Changed['entries'][number];
  if (before) tally.stands(before, last, -1);
  else deliveries.add(after.accountId, delivery);
  tally.stands(after, last, 1);
  if (before) sql.run(CHANGE_REQUESTS, [after.state, delivery]);
  for (const [entry, attempt] of entries) {
    const { chain, outcome, recovery = null } = entry;
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
