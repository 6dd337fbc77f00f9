/** Writes entries into their deliveries' rows, and reports what each entry changed. */
import type { ViewAttempt, ViewEntry } from '../../ports/deliveries-view.js';
import { PER_EVENT } from './deliveries-view-schema.js';
import { type DeliveryRow, rowOf, withEntry } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';
import type { HashedIds, RoutedEvents } from './routed-events.js';

/** What counters and health follow. */
export interface RowChange {
  readonly entry: ViewEntry;
  /** Null if it was known already, or the entry has none. */
  readonly attempt: ViewAttempt | null;
  readonly before: Pick<DeliveryRow, 'state' | 'said_at'> | null;
  readonly after: Pick<DeliveryRow, 'state' | 'said_at'>;
}

type Known = DeliveryRow & { readonly row: number };

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
    const added = this.#sql.insert.run(number, account_id, webhook_id, first_at, id, webhook_event, ...changing(row));
    if (added.changes === 0) return this.#merge(entry, event.row);
    event.next += 1;
    this.#ids.add(account_id, id, number);
    this.#addResponse(number, entry);
    return { entry, attempt: entry.attempt, before: null, after: row };
  }

  #merge(entry: ViewEntry, event: number): RowChange {
    const { accountId, webhookId, firstAt, id, attempt } = entry;
    const known = this.#sql.find.get(accountId, webhookId, firstAt, id, event) as Known;
    const merged = withEntry(known, entry);
    this.#sql.update.run(...changing(merged), known.row);
    this.#addResponse(known.row, entry);
    return { entry, attempt: merged.attempts === known.attempts ? null : attempt, before: known, after: merged };
  }

  #addResponse(row: number, { attempt, response }: ViewEntry): void {
    if (attempt && response !== null) this.#sql.addResponse.run(row, attempt.at, response);
  }
}

/** Values in the order of insert and update. */
function changing(row: DeliveryRow) {
  const { state, next_at, step, turn, said_at, last_turn, last_at } = row;
  const { recovery, recovery_turn, before, answer, error, attempts } = row;
  const decided = [state, next_at, step, turn, said_at] as const;
  return [...decided, last_turn, last_at, recovery, recovery_turn, before, answer, error, attempts] as const;
}

function statements(file: SqliteFile) {
  const decided = ['state', 'next_at', 'step', 'turn', 'said_at'];
  const all = [
    ...decided,
    'last_turn',
    'last_at',
    'recovery',
    'recovery_turn',
    'before',
    'answer',
    'error',
    'attempts',
  ];
  const key = ['row', 'account_id', 'webhook_id', 'first_at', 'id', 'webhook_event'];
  const columns = [...key, ...all];
  return {
    insert: file.prepare(
      `INSERT INTO deliveries (${columns.join()}) VALUES (${columns.map(() => '?').join()}) ON CONFLICT DO NOTHING`,
    ),
    find: file.prepare(
      `SELECT * FROM deliveries
       WHERE account_id = ? AND webhook_id = ? AND first_at = ? AND id = ? AND row / ${PER_EVENT} = ?`,
    ),
    update: file.prepare(`UPDATE deliveries SET ${all.map((name) => `${name} = ?`).join()} WHERE row = ?`),
    addResponse: file.prepare(
      `INSERT INTO responses (row, at, response) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET response = max(response, excluded.response)`,
    ),
  };
}
