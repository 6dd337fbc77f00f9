/**
 * The event store on SQLite. A position is `<store id>.<seq>.<seq of an event>.<its id>`: everything up to the first seq was
 * yielded, and the event was the last one yielded. A file restored from a backup has the same store id, and a different
 * event may by now have the place of a lost one. The event at the first seq itself may have been swept.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Appended,
  type EventBatch,
  type EventStore,
  MAX_EVENT_BYTES,
  type NewEvent,
  NO_STREAM,
  OtherHistory,
  type RecordedEvent,
  StoreUnavailable,
  type SubscribeOptions,
  WrongExpectedRevision,
} from '../../ports/event-store.js';
import type { SqliteStatement } from './open-file.js';
import type { StoreFile } from './store-file.js';
import { type EventRow, type NewEventRow, StoredEvent } from './stored-event.js';

const PAGE = 1_000;
/** Of a read, which may be left after its first event: events have up to 26 KB, and their reading blocks the process. */
const FIRST_PAGE = 16;
/** 1,000 events at the limit of their length would stop the event loop, and take 1 GiB of memory. */
const PAGE_CHARACTERS = 512 * 1024;
/** Ours have up to 45; longer ones of others are read as empty. */
const MAX_NAME_BYTES = 1_024;
const EVENTS = 'events';
const POSITION = /^([0-9a-f]+)\.([0-9]{1,15})\.([0-9]{1,15})\.(.*)$/s;

/** The position up to which a subscription has yielded everything, and the last event it yielded. */
interface SubscriptionPosition {
  readonly seq: number;
  readonly event: { readonly seq: number; readonly id: string };
}

const BEGINNING: SubscriptionPosition = { seq: 0, event: { seq: 0, id: '' } };

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
      throw error instanceof WrongExpectedRevision ? error : this.#unavailable(error);
    }
  }

  async *read(stream: string, fromRevision = 0, types?: readonly string[]): AsyncIterable<RecordedEvent> {
    const { onward, onwardOfTypes } = this.#sql;
    const page = (next: number, limit: number) =>
      types
        ? upToLength(onwardOfTypes, [stream, next, JSON.stringify(types)], limit)
        : upToLength(onward, [stream, next], limit);
    let size = FIRST_PAGE;
    for (let next = fromRevision; ; ) {
      const { rows, isLast } = this.#try(() => page(next, size));
      for (const row of rows) yield this.#event(row);
      const last = rows.at(-1);
      if (!last || isLast) return;
      next = last.revision + 1;
      size = Math.min(PAGE, 2 * size);
      await nextTurn();
    }
  }

  async endsWith(stream: string, revision: number, id: string): Promise<boolean> {
    const ids = this.#try(() => this.#sql.idsOnward.all(stream, revision));
    return ids.length === 1 && ids[0] === id;
  }

  async *subscribe({ after, streamPrefix, signal }: SubscribeOptions): AsyncIterable<EventBatch> {
    this.#mustBeOpen();
    const ended = AbortSignal.any([signal, this.#closing.signal]);
    let mark = after === null ? BEGINNING : this.#known(after);
    let caughtUp = false;
    const changes = this.#store.changes.of(EVENTS);
    try {
      while (!ended.aborted) {
        const { events, next, drained } = this.#page(mark, streamPrefix);
        const hasMoved = next.seq > mark.seq;
        mark = next;
        if (hasMoved || !caughtUp) yield { events, position: this.#text(mark), caughtUp: drained && !caughtUp };
        caughtUp ||= drained;
        // A long catch-up yields turns of the event loop to other work.
        await (drained ? changes.next(ended) : nextTurn());
      }
    } finally {
      changes.close();
    }
  }

  async head(): Promise<string> {
    this.#mustBeOpen();
    if (this.#store.isReplaced()) throw new OtherHistory('was replaced while the service had it open');
    const seq = this.#try(() => this.#lastSeq());
    return this.#text({ ...BEGINNING, seq });
  }

  isAtOrAfter(position: string, head: string): boolean {
    return seqOf(position) >= seqOf(head);
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

  /** If these same events are stored there already, this is a repeated append. */
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

  #page(mark: SubscriptionPosition, streamPrefix: string) {
    // Read first: an event stored between the two reads comes with this page, or with the next one.
    const last = this.#try(() => this.#lastSeq());
    const following = [mark.seq, streamPrefix, afterPrefix(streamPrefix)];
    const { rows, isLast: drained } = this.#try(() => upToLength(this.#sql.following, following, PAGE));
    const event = rows.at(-1) ?? mark.event;
    const seq = Math.max(mark.seq, event.seq, drained ? last : 0);
    const next: SubscriptionPosition = { seq, event: { seq: event.seq, id: event.id } };
    return { events: rows.map((row) => this.#event(row)), next, drained };
  }

  /** Includes swept events. */
  #lastSeq(): number {
    return (this.#sql.lastSeq.get() as number | undefined) ?? 0;
  }

  /** @throws OtherHistory */
  #known(position: string): SubscriptionPosition {
    const [, storeId, digits = '', eventDigits = '', id = ''] = POSITION.exec(position) ?? [];
    const mark = { seq: Number(digits), event: { seq: Number(eventDigits), id } };
    if (storeId !== this.#store.storeId) throw new OtherHistory('is a different one');
    if (this.#try(() => this.#lastSeq()) < mark.seq)
      throw new OtherHistory('ends earlier than before: it was restored');
    const { event } = mark;
    const found = event.seq === 0 ? '' : this.#try(() => this.#sql.idOf.get(event.seq));
    if (found !== event.id) throw new OtherHistory('has other events than before: it was restored');
    return mark;
  }

  #text({ seq, event }: SubscriptionPosition): string {
    return `${this.#store.storeId}.${seq}.${event.seq}.${event.id}`;
  }

  #position(seq: number, id: string): string {
    return `${this.#store.storeId}.${seq}.${seq}.${id}`;
  }

  #event(row: EventRow): RecordedEvent {
    return new StoredEvent(row, this.#position(row.seq, row.id));
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw new StoreUnavailable('the event store is closed');
  }

  #try<T>(read: () => T): T {
    this.#mustBeOpen();
    try {
      return read();
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  #unavailable(cause: unknown): StoreUnavailable {
    return new StoreUnavailable(this.#store.whyFailed(cause, 'the event store'), { cause });
  }
}

/** @param limit the last parameter of the statement */
function upToLength(statement: SqliteStatement, values: readonly unknown[], limit: number) {
  const rows: EventRow[] = [];
  let characters = 0;
  for (const row of statement.iterate(...values, limit) as IterableIterator<EventRow>) {
    rows.push(row);
    characters += row.data.length + row.metadata.length;
    if (characters >= PAGE_CHARACTERS) return { rows, isLast: false };
  }
  return { rows, isLast: rows.length < limit };
}

function seqOf(position: string): number {
  return Number(POSITION.exec(position)?.[2] ?? Number.NaN);
}

/** @throws TypeError for values that JSON can't encode, before anything is written */
function newRow({ id, type, data, metadata }: NewEvent): NewEventRow {
  return { id, type, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

/** Measured without reading it. The empty text is no JSON. */
const upTo = (bytes: number, column: string) => `iif(octet_length(${column}) > ${bytes}, '', ${column}) AS ${column}`;
const NAMES = ['id', 'type'].map((column) => upTo(MAX_NAME_BYTES, column));
const CONTENTS = ['data', 'metadata'].map((column) => upTo(MAX_EVENT_BYTES, column));

function statements({ file }: StoreFile) {
  const columns = ['seq, stream, revision', ...NAMES, ...CONTENTS].join();
  return {
    insert: file.prepare('INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)'),
    lastRevision: file.prepare('SELECT max(revision) FROM events WHERE stream = ?').pluck(),
    lastSeq: file.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'events'").pluck(),
    idOf: file.prepare(`SELECT ${upTo(MAX_NAME_BYTES, 'id')} FROM events WHERE seq = ?`).pluck(),
    page: file.prepare(
      `SELECT ${columns} FROM events WHERE stream = ? AND revision BETWEEN ? AND ? ORDER BY revision LIMIT +?`,
    ),
    onward: file.prepare(`SELECT ${columns} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT +?`),
    // The type is stored before the data: pages of other events' data are not read.
    onwardOfTypes: file.prepare(
      `SELECT ${columns} FROM events WHERE stream = ? AND revision >= ? AND type IN (SELECT value FROM json_each(?))
       ORDER BY revision LIMIT +?`,
    ),
    idsOnward: file
      .prepare(
        `SELECT ${upTo(MAX_NAME_BYTES, 'id')} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT 2`,
      )
      .pluck(),
    following: file.prepare(
      `SELECT ${columns} FROM events NOT INDEXED WHERE seq > ? AND stream >= ? AND stream < ? ORDER BY seq LIMIT +?`,
    ),
  };
}

/** The first string after all those that start with the prefix. */
function afterPrefix(prefix: string): string {
  if (prefix === '') return '\u{10FFFF}';
  return prefix.slice(0, -1) + String.fromCodePoint((prefix.codePointAt(prefix.length - 1) ?? 0) + 1);
}
