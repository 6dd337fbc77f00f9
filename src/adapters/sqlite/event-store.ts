/**
 * The event store on SQLite. A position is `<store id>.<seq>.<event id>`: a file that was restored from a backup has the
 * same store id, and in the place of an event that is lost there may be another one by now.
 */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Appended,
  type EventBatch,
  type EventStore,
  type NewEvent,
  NO_STREAM,
  type RecordedEvent,
  StoreUnavailable,
  type SubscribeOptions,
  UnknownPosition,
  WrongExpectedRevision,
} from '../../ports/event-store.js';
import { codeOf } from './open-file.js';
import { afterPrefix } from './prefix.js';
import type { StoreFile } from './store-file.js';
import { type EventRow, type NewEventRow, StoredEvent } from './stored-event.js';

const PAGE = 1_000;
const EVENTS = 'events';
const POSITION = /^([0-9a-f]+)\.([0-9]{1,15})\.(.+)$/s;

export class SqliteEventStore implements EventStore {
  readonly #store: StoreFile;
  readonly #closing = new AbortController();
  readonly #sql: ReturnType<typeof statements>;

  constructor(store: StoreFile) {
    this.#store = store;
    this.#sql = statements(store);
  }

  async append(stream: string, events: readonly NewEvent[], expectedRevision: number): Promise<Appended> {
    const rows = events.map(newRow);
    this.#mustBeOpen();
    try {
      return await this.#store.write(EVENTS, () => this.#append(stream, rows, expectedRevision));
    } catch (error) {
      throw error instanceof WrongExpectedRevision ? error : unavailable(error);
    }
  }

  async *read(stream: string, fromRevision = 0): AsyncIterable<RecordedEvent> {
    const end = this.#try(() => this.#lastRevision(stream));
    let next = fromRevision;
    while (next <= end) {
      const rows = this.#try(() => this.#sql.page.all(stream, next, end, PAGE) as EventRow[]);
      if (rows.length === 0) return;
      next += rows.length;
      for (const row of rows) yield this.#event(row);
      if (rows.length === PAGE) await nextTurn();
    }
  }

  async *subscribe({ after, streamPrefix, signal }: SubscribeOptions): AsyncIterable<EventBatch> {
    this.#mustBeOpen();
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    let seq = this.#seqOf(after);
    let caughtUp = false;
    const changes = new Changes(this.#store);
    try {
      while (!ended.aborted) {
        const rows = this.#try(
          () => this.#sql.following.all(seq, streamPrefix, afterPrefix(streamPrefix), PAGE) as EventRow[],
        );
        const drained = rows.length < PAGE;
        seq = rows.at(-1)?.seq ?? seq;
        if (rows.length > 0 || !caughtUp) {
          yield { events: rows.map((row) => this.#event(row)), caughtUp: drained && !caughtUp };
        }
        caughtUp ||= drained;
        // A long catch-up leaves turns of the event loop to others.
        await (drained ? changes.next(ended) : nextTurn());
      }
    } finally {
      changes.close();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  #append(stream: string, events: readonly NewEventRow[], expected: number): Appended {
    const last = this.#lastRevision(stream);
    if (last !== expected) return this.#earlierResult(stream, events, expected, last);
    let seq = 0;
    events.forEach(({ id, type, data, metadata }, index) => {
      const row = [stream, expected + 1 + index, id, type, data, metadata];
      seq = Number(this.#sql.insert.run(...row).lastInsertRowid);
    });
    return { revision: expected + events.length, position: this.#position(seq, events.at(-1)?.id ?? '') };
  }

  /** Where these very events are stored there already, it is the same append again. */
  #earlierResult(stream: string, events: readonly NewEventRow[], expected: number, last: number): Appended {
    const end = expected + events.length;
    const rows = this.#sql.page.all(stream, expected + 1, end, events.length) as EventRow[];
    const row = rows.at(-1);
    if (!row || rows.length !== events.length || rows.some(({ id }, index) => id !== events[index]?.id)) {
      throw new WrongExpectedRevision(stream, expected, last);
    }
    return { revision: row.revision, position: this.#position(row.seq, row.id) };
  }

  #lastRevision(stream: string): number {
    return (this.#sql.lastRevision.get(stream) as number | null) ?? NO_STREAM;
  }

  #seqOf(position: string | null): number {
    if (position === null) return 0;
    const [, storeId, digits = '', id] = POSITION.exec(position) ?? [];
    const seq = Number(digits);
    if (storeId !== this.#store.storeId || this.#try(() => this.#sql.idOf.get(seq)) !== id) {
      throw new UnknownPosition(position);
    }
    return seq;
  }

  #position(seq: number, id: string): string {
    return `${this.#store.storeId}.${seq}.${id}`;
  }

  #event(row: EventRow): RecordedEvent {
    return new StoredEvent(row, this.#position(row.seq, row.id));
  }

  /** @throws StoreUnavailable */
  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable('the event store is closed');
  }

  #try<T>(read: () => T): T {
    this.#mustBeOpen();
    try {
      return read();
    } catch (error) {
      throw unavailable(error);
    }
  }
}

/** @throws TypeError for what JSON can't say, before anything is written */
function newRow({ id, type, data, metadata }: NewEvent): NewEventRow {
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

/** Commits that may have added events, none missed between two calls of next. */
class Changes {
  readonly #target = new EventTarget();
  readonly close: () => void;
  #changed = false;

  constructor(store: StoreFile) {
    this.close = store.onChange((touched) => {
      if (touched && !touched.has(EVENTS)) return;
      this.#changed = true;
      this.#target.dispatchEvent(new Event('change'));
    });
  }

  /** Fulfilled after a change since the last call, or when the signal aborts. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#changed && !signal.aborted) await once(this.#target, 'change', { signal }).catch(() => undefined);
    this.#changed = false;
  }
}

function statements({ file }: StoreFile) {
  const columns = 'seq, stream, revision, id, type, data, metadata';
  return {
    insert: file.prepare('INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)'),
    lastRevision: file.prepare('SELECT max(revision) FROM events WHERE stream = ?').pluck(),
    idOf: file.prepare('SELECT id FROM events WHERE seq = ?').pluck(),
    page: file.prepare(
      `SELECT ${columns} FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision LIMIT ?`,
    ),
    following: file.prepare(
      `SELECT ${columns} FROM events NOT INDEXED WHERE seq > ? AND stream >= ? AND stream < ? ORDER BY seq LIMIT ?`,
    ),
  };
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`the event store can't be used (${codeOf(cause)})`, { cause });
}
