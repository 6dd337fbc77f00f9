/** Writes entries into the rows of their events and deliveries: an event is read, folded and written once in a batch. */
import type { ViewEntry, ViewRouting } from '../../../ports/deliveries-view.js';
import type { SqliteFile } from '../open-file.js';
import { type DeliveryChange, DeliveryWriter } from './delivery-writer.js';
import { arrivalOf, type EventRow, eventRow, paymentOf, withRouting } from './event-row.js';

interface Entries {
  readonly routed: ViewRouting[];
  readonly deliveries: ViewEntry[];
}

type StoredEvent = EventRow & { readonly row: number; readonly arrived: number };

const CHANGING = ['event_source', 'amount', 'reference', 'webhooks', 'routed_at', 'last_at', 'arrived'] as const;

export class EventWriter {
  readonly #sql: ReturnType<typeof statements>;
  readonly #deliveries: DeliveryWriter;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
    this.#deliveries = new DeliveryWriter(file);
  }

  /** @returns what changed in deliveries */
  add(entries: readonly (ViewEntry | ViewRouting)[]): readonly DeliveryChange[] {
    return [...byEvent(entries)].flatMap((of) => this.#addTo(of));
  }

  #addTo({ routed, deliveries }: Entries): DeliveryChange[] {
    const first = (routed[0] ?? deliveries[0]) as ViewRouting | ViewEntry;
    const stored = this.#sql.find.get(first.accountId, first.firstAt, paymentOf(first)) as StoredEvent | undefined;
    const event = routed.reduce(withRouting, stored ?? eventRow(first));
    const all = this.#deliveries.folded(stored?.row ?? null, deliveries);
    const row = this.#write(stored, event, arrivalOf(event, all));
    for (const { accountId, place, index } of routed) {
      this.#sql.route.run(accountId, place.partition, place.offset, index, row);
    }
    return all.flatMap((delivery) => this.#deliveries.write(row, delivery) ?? []);
  }

  #write(stored: StoredEvent | undefined, event: EventRow, arrived: number): number {
    const { account_id, first_at, payment, event_id, event_type, ...rest } = event;
    const { event_source, amount, reference, webhooks, routed_at, last_at } = rest;
    const values = [event_source, amount, reference, webhooks, routed_at, last_at, arrived];
    if (stored) {
      if (stored !== event || stored.arrived !== arrived) this.#sql.update.run(values, stored.row);
      return stored.row;
    }
    const added = this.#sql.insert.run(account_id, first_at, payment, event_id, event_type, values);
    return Number(added.lastInsertRowid);
  }
}

function byEvent(entries: readonly (ViewEntry | ViewRouting)[]): Iterable<Entries> {
  const events = new Map<string, Entries>();
  for (const entry of entries) {
    const key = `${entry.accountId} ${entry.firstAt} ${paymentOf(entry)}`;
    const of = events.get(key) ?? { routed: [], deliveries: [] };
    events.set(key, of);
    if (entry.kind === 'routed') of.routed.push(entry);
    else of.deliveries.push(entry);
  }
  return events.values();
}

function statements(file: SqliteFile) {
  const columns = ['account_id', 'first_at', 'payment', 'event_id', 'event_type', ...CHANGING];
  return {
    find: file.prepare('SELECT * FROM events WHERE account_id = ? AND first_at = ? AND payment = ?'),
    insert: file.prepare(`INSERT INTO events (${columns.join()}) VALUES (${columns.map(() => '?').join()})`),
    update: file.prepare(`UPDATE events SET ${CHANGING.map((name) => `${name} = ?`).join()} WHERE row = ?`),
    route: file.prepare(
      'INSERT OR IGNORE INTO routings (account_id, partition, offset, idx, event) VALUES (?, ?, ?, ?, ?)',
    ),
  };
}
