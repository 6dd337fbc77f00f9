/** Writes entries into their deliveries' rows, and reports what each entry changed. */
import type { ViewAttempt, ViewEntry } from '../../ports/deliveries-view.js';
import { PER_EVENT } from './deliveries-view-schema.js';
import { type DeliveryRow, rowOf, withEntry } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';
import type { HashedIds, RoutedEvents } from './routed-events.js';

export interface RowChange {
  readonly entry: ViewEntry;
  /** Null if it was known already, or the entry has none. */
  readonly attempt: ViewAttempt | null;
  readonly before: Pick<DeliveryRow, 'state' | 'said_at'> | null;
  readonly after: Pick<DeliveryRow, 'state' | 'said_at'>;
}

type KnownDelivery = DeliveryRow & { readonly row: number };

/** Columns that an entry sets once, and those that a later one may change. */
const KEY = ['account_id', 'webhook_id', 'first_at', 'id', 'webhook_event'] as const;
const CHANGING = [
  ...(['state', 'next_at', 'waiting_for', 'step', 'chain', 'made', 'said_at', 'beside', 'again'] as const),
  ...(['last_at', 'answer', 'error', 'attempts'] as const),
] as const;

export class DeliveryRows {
  readonly #sql: ReturnType<typeof statements>;
  readonly #events: RoutedEvents;
  readonly #ids: HashedIds;

  constructor(file: SqliteFile, events: RoutedEvents, ids: HashedIds) {
    this.#sql = statements(file);
    this.#events = events;
    this.#ids = ids;
  }

  add(entry: ViewEntry): RowChange {
    const event = this.#events.of(entry);
    const number = event.row * PER_EVENT + event.next;
    const row = rowOf(entry);
    const { account_id, webhook_id, first_at, id, webhook_event } = row;
    const added = this.#sql.insert.run(number, account_id, webhook_id, first_at, id, webhook_event, changing(row));
    if (added.changes === 0) return this.#merge(entry, event.row);
    event.next += 1;
    this.#ids.add(entry.accountId, entry.id, number);
    this.#addResponse(number, entry);
    this.#addRecovery(number, entry, row);
    return { entry, attempt: entry.attempt, before: null, after: row };
  }

  #merge(entry: ViewEntry, event: number): RowChange {
    const { accountId, webhookId, firstAt, id, attempt } = entry;
    const known = this.#sql.find.get(accountId, webhookId, firstAt, id, event) as KnownDelivery;
    const merged = withEntry(known, entry);
    this.#sql.update.run(changing(merged), known.row);
    this.#addResponse(known.row, entry);
    this.#addRecovery(known.row, entry, merged);
    if (merged.again !== null && merged.state !== known.state) this.#sql.setRecovered.run(merged.state, known.row);
    return { entry, attempt: merged.attempts === known.attempts ? null : attempt, before: known, after: merged };
  }

  #addResponse(row: number, { attempt, response }: ViewEntry): void {
    if (attempt && response !== null) this.#sql.addResponse.run(row, attempt.at, response);
  }

  #addRecovery(row: number, { accountId, recovery }: ViewEntry, { state }: DeliveryRow): void {
    if (recovery !== null) this.#sql.addRecovered.run(accountId, recovery, row, state);
  }
}

/** The values of CHANGING. */
function changing(row: DeliveryRow) {
  const { state, next_at, waiting_for, step, chain, made, said_at, beside, again, last_at, answer, error, attempts } =
    row;
  return [state, next_at, waiting_for, step, chain, made, said_at, beside, again, last_at, answer, error, attempts];
}

function statements(file: SqliteFile) {
  const columns = ['row', ...KEY, ...CHANGING];
  return {
    insert: file.prepare(
      `INSERT INTO deliveries (${columns.join()}) VALUES (${columns.map(() => '?').join()}) ON CONFLICT DO NOTHING`,
    ),
    find: file.prepare(
      `SELECT * FROM deliveries
       WHERE account_id = ? AND webhook_id = ? AND first_at = ? AND id = ? AND row / ${PER_EVENT} = ?`,
    ),
    update: file.prepare(`UPDATE deliveries SET ${CHANGING.map((name) => `${name} = ?`).join()} WHERE row = ?`),
    addRecovered: file.prepare(
      'INSERT OR IGNORE INTO recovered (account_id, recovery, row, state) VALUES (?, ?, ?, ?)',
    ),
    setRecovered: file.prepare('UPDATE recovered SET state = ? WHERE row = ?'),
    addResponse: file.prepare(
      `INSERT INTO responses (row, at, response) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET response = max(response, excluded.response)`,
    ),
  };
}
