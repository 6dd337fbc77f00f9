/**
 * The view of the deliveries topic in its own file, deliveries-view.sqlite. The file may be large, so it isn't checked as a
 * whole on opening: damage surfaces when a statement meets it.
 */
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import {
  type DeliveriesPage,
  type DeliveriesQuery,
  type DeliveriesView,
  type EntryPlace,
  type ViewEntry,
  type ViewRouting,
  ViewUnsound,
} from '../../ports/deliveries-view.js';
import { BLOCK, changing, VIEW_SCHEMA, viewStatements } from './deliveries-view-sql.js';
import { hashOfEvent, pageOf } from './delivery-pages.js';
import { type DeliveryRow, rowOf, withEntry } from './delivery-row.js';
import { type DisposableFile, type FileKind, isDamage, openDisposable, throwAway } from './disposable-file.js';
import { DataDirUnusable } from './store-file.js';
import { endUnsynced, writeUnsynced } from './unsynced.js';

/** One place per partition is stored for each such span of record time: enough to detect a recreated topic. */
const MARK_EVERY_MS = 10_000;
const FORGOTTEN_AT_ONCE = 250;

/** "awdv" */
const KIND: FileKind = {
  name: 'deliveries-view',
  applicationId: 0x61776476,
  shape: 4,
  schema: VIEW_SCHEMA,
  isChecked: false,
};

/** The newest mark of each partition. */
type Marks = Map<number, EntryPlace>;

/** @param onDamaged called with the name of a file that had to be deleted @throws DataDirUnusable */
export function openDeliveriesView(dataDir: string, onDamaged: (file: string) => void): DeliveriesView {
  const disposable = openDisposable(dataDir, KIND, onDamaged);
  try {
    if (writeUnsynced(disposable.file)) return new SqliteDeliveriesView(disposable);
  } catch (error) {
    if (!isDamage(error)) {
      disposable.file.close();
      throw new DataDirUnusable(error);
    }
  }
  onDamaged(basename(disposable.path));
  throwAway(disposable);
  return openDeliveriesView(dataDir, onDamaged);
}

class SqliteDeliveriesView implements DeliveriesView {
  readonly id: string;
  readonly #disposable: DisposableFile;
  readonly #sql: ReturnType<typeof viewStatements>;
  readonly #transaction: (work: () => void) => void;
  #marks: Marks;

  constructor(disposable: DisposableFile) {
    const { file } = disposable;
    this.#disposable = disposable;
    this.#sql = viewStatements(file);
    this.#transaction = file.transaction((work: () => void) => work());
    if (this.#sql.id.get() === undefined) this.#sql.name.run(randomBytes(8).toString('hex'));
    this.id = this.#sql.id.get() as string;
    const marks = this.#sql.marks.all() as EntryPlace[];
    this.#marks = new Map(marks.map((place) => [place.partition, place]));
  }

  delivery(): never {
    throw new Error('not yet');
  }

  events(): never {
    throw new Error('not yet');
  }

  feed(): never {
    throw new Error('not yet');
  }

  stats(): never {
    throw new Error('not yet');
  }

  dataSince(): never {
    throw new Error('not yet');
  }

  health(): never {
    throw new Error('not yet');
  }

  recoverableCount(): never {
    throw new Error('not yet');
  }

  recoverable(): never {
    throw new Error('not yet');
  }

  recovery(): never {
    throw new Error('not yet');
  }

  add(given: readonly (ViewEntry | ViewRouting)[]): void {
    const entries = given.filter((one) => one.kind === 'delivery');
    this.#sound(() => {
      const marks: Marks = new Map(this.#marks);
      this.#transaction(() => {
        let marked: EntryPlace | null = null;
        for (const entry of entries) {
          // The entries of a record share its place.
          if (entry.place !== marked) this.#mark(marks, entry.place);
          marked = entry.place;
          this.#add(entry);
        }
      });
      this.#marks = marks;
    });
  }

  page(query: DeliveriesQuery): DeliveriesPage {
    return this.#sound(() => pageOf(this.#sql, query));
  }

  forget(before: number): void {
    this.#sound(() =>
      this.#transaction(() => {
        this.#sql.forgetDeliveries.run(FORGOTTEN_AT_ONCE, before);
        this.#sql.forgetEventIds.run();
        this.#sql.forgetMarks.run(FORGOTTEN_AT_ONCE, before);
      }),
    );
  }

  discard(): void {
    throwAway(this.#disposable);
  }

  close(): void {
    const { file } = this.#disposable;
    if (file.open) endUnsynced(file);
    file.close();
  }

  #add(entry: ViewEntry): void {
    const { accountId, webhookId, firstAt, id } = entry;
    const row = rowOf(entry);
    const { insert, addEventId, find, update } = this.#sql;
    const added = insert.run(accountId, webhookId, firstAt, id, row.event_id, row.event_type, ...changing(row));
    if (added.changes > 0) {
      const number = Number(added.lastInsertRowid);
      addEventId.run(Math.floor(number / BLOCK), hashOfEvent(accountId, row.event_id), number);
      return;
    }
    const known = find.get(accountId, webhookId, firstAt, id) as DeliveryRow;
    update.run(...changing(withEntry(known, entry)), known.row);
  }

  /** @throws ViewUnsound if another entry was at this place */
  #mark(marks: Marks, place: EntryPlace): void {
    const { partition, offset, timestamp } = place;
    const last = marks.get(partition);
    if (last && offset <= last.offset) {
      const known = this.#sql.markAt.get(partition, offset) as number | undefined;
      if (known !== undefined && known !== timestamp) throw new ViewUnsound('the deliveries view is of another topic');
    } else if (!last || timestamp - last.timestamp >= MARK_EVERY_MS) {
      this.#sql.mark.run(partition, offset, timestamp);
      marks.set(partition, place);
    }
  }

  #sound<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!isDamage(cause) && !(cause instanceof SyntaxError)) throw cause;
      throw new ViewUnsound('the deliveries view is damaged', { cause });
    }
  }
}
