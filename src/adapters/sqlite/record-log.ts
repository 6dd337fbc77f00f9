/** Topics and their records in the store file. Every topic has one partition, 0. Errors are SQLite's own: see broker.ts. */
import {
  type Extent,
  heldBytes,
  type NewRecord,
  type ReceivedRecord,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { decodedBehind, encodedBehind } from '../common/done-behind.js';
import type { Progress } from '../common/record-lane.js';
import type { StoreFile } from './store-file.js';
import { encodedHeaders, recordOf, type StoredRecord } from './stored-record.js';

type NewRow = Pick<StoredRecord, 'key' | 'value' | 'headers'>;

export interface RecordPage {
  readonly page: readonly (ReceivedRecord | UnreadableBatch)[];
  readonly next: number;
  readonly atEnd: boolean;
}

/** Records published to a topic until its transaction starts. */
interface Batch {
  readonly rows: NewRow[];
  /** Fulfilled with the offset of the first. */
  readonly written: Promise<number>;
}

const MOST_IN_A_BATCH = 250;
/** A page ends with the record that reaches this. Each consumed topic has one page in memory. */
const PAGE_BYTES = 512 * 1024;

export class RecordLog {
  readonly #store: StoreFile;
  readonly #now: () => number;
  readonly #sql: ReturnType<typeof statements>;
  readonly #batches = new Map<string, Batch>();

  constructor(store: StoreFile, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
    this.#sql = statements(store);
  }

  /**
   * All records for a topic until its transaction starts form one batch: one look-up and one update of the topic.
   * @returns their offsets
   */
  append(topic: string, records: readonly NewRecord[]): Promise<readonly number[]> {
    const open = this.#batches.get(topic);
    const batch = open && open.rows.length < MOST_IN_A_BATCH ? open : this.#beginBatch(topic);
    const begin = batch.rows.length;
    // Encoded here: an encoding error then rejects only its own call, and not the batch.
    for (const { key, value, headers } of records) batch.rows.push({ key, value, headers: encodedHeaders(headers) });
    return batch.written.then((first) => records.map((_, n) => first + begin + n));
  }

  ensure(topics: readonly string[]): Promise<void> {
    return this.#store.write('topics', () => {
      for (const topic of topics) this.#ensure(topic);
    });
  }

  /** Commits where the group starts: from now on retention keeps records that the group is not done with. */
  begin(group: string, topics: readonly string[]): Promise<void> {
    return this.#store.write('topics', () => {
      for (const topic of topics) this.#sql.begin.run(group, this.#ensure(topic).id, this.extent(topic)?.first ?? 0);
    });
  }

  topics(): string[] {
    return this.#sql.topics.all() as string[];
  }

  /** The offset of the topic's next record; 0 for a topic that does not exist. */
  end(topic: string): number {
    return (this.#sql.topic.get(topic) as { next_offset: number } | undefined)?.next_offset ?? 0;
  }

  /** In one read: a record published meanwhile is in both offsets or in neither. */
  extent(topic: string): Extent | undefined {
    return this.#sql.extent.get(topic) as Extent | undefined;
  }

  /** Since when the topic has all of its records, ms since the epoch; null if it has lost none. */
  completeSince(topic: string): number | null {
    const read = () => this.#sql.oldest.get(topic) as { offset: number; timestamp: number } | undefined;
    const oldest = this.#noticing(read);
    return oldest && oldest.offset > 0 ? oldest.timestamp : null;
  }

  page(topic: string, from: number, limit: number): RecordPage {
    return this.#noticing(() => this.#page(topic, from, limit));
  }

  /** For reads that no call of the broker surrounds. */
  #noticing<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      this.#store.noticeDamage(error);
      throw error;
    }
  }

  progress(group: string, topic: string): Progress {
    const row = this.#sql.progress.get(group, topic) as { next_offset: number; done_behind: string } | undefined;
    const offset = row?.next_offset ?? 0;
    const behind = decodedBehind(row?.done_behind ?? '', offset);
    return { offset, ...(behind && { behind }) };
  }

  /** Null if the group never read the topic. */
  committed(group: string, topic: string): number | null {
    return (this.#sql.progress.get(group, topic) as { next_offset: number } | undefined)?.next_offset ?? null;
  }

  rememberProgress(group: string, progress: ReadonlyMap<string, Progress>): Promise<void> {
    return this.#store.write('offsets', () => {
      for (const [topic, { offset, behind }] of progress) {
        const doneBehind = behind ? encodedBehind(behind, offset, Number.POSITIVE_INFINITY) : '';
        this.#sql.remember.run(group, this.#ensure(topic).id, offset, doneBehind);
      }
    });
  }

  #page(topic: string, from: number, limit: number): RecordPage {
    const page: (ReceivedRecord | UnreadableBatch)[] = [];
    let bytes = 0;
    let next = from;
    for (const row of this.#sql.page.iterate(topic, from, limit) as IterableIterator<StoredRecord>) {
      const record = recordOf(topic, row);
      page.push(record);
      next = row.offset + 1;
      bytes += 'digest' in record ? 0 : heldBytes(record);
      if (bytes >= PAGE_BYTES) return { page, next, atEnd: false };
    }
    return { page, next, atEnd: page.length < limit };
  }

  #beginBatch(topic: string): Batch {
    const rows: NewRow[] = [];
    const end = () => {
      if (this.#batches.get(topic) === batch) this.#batches.delete(topic);
    };
    const insert = () => {
      end();
      return this.#insert(topic, rows);
    };
    const written = this.#store.write(topic, insert, () => rows.length);
    const batch: Batch = { rows, written };
    // If it never reached a transaction.
    written.catch(end);
    this.#batches.set(topic, batch);
    return batch;
  }

  /** @returns the offset of the first */
  #insert(topic: string, rows: readonly NewRow[]): number {
    const { id, next_offset: first } = this.#ensure(topic);
    const timestamp = this.#now();
    rows.forEach(({ key, value, headers }, index) => {
      this.#sql.insert.run(id, first + index, key, value, headers, timestamp);
    });
    this.#sql.advance.run(first + rows.length, id);
    return first;
  }

  #ensure(topic: string): { id: number; next_offset: number } {
    const found = this.#sql.topic.get(topic) as { id: number; next_offset: number } | undefined;
    if (found) return found;
    return { id: Number(this.#sql.create.run(topic).lastInsertRowid), next_offset: 0 };
  }
}

function statements({ file }: StoreFile) {
  const idOf = '(SELECT id FROM topics WHERE name = ?)';
  return {
    topic: file.prepare('SELECT id, next_offset FROM topics WHERE name = ?'),
    create: file.prepare('INSERT INTO topics (name, next_offset) VALUES (?, 0)'),
    topics: file.prepare('SELECT name FROM topics ORDER BY name').pluck(),
    insert: file.prepare(
      'INSERT INTO records (topic, offset, key, value, headers, timestamp) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    advance: file.prepare('UPDATE topics SET next_offset = ? WHERE id = ?'),
    page: file.prepare(
      `SELECT offset, key, value, headers, timestamp FROM records
       WHERE topic = ${idOf} AND offset >= ? ORDER BY offset LIMIT +?`,
    ),
    oldest: file.prepare(`SELECT offset, timestamp FROM records WHERE topic = ${idOf} ORDER BY offset LIMIT 1`),
    extent: file.prepare(
      `SELECT coalesce((SELECT min(offset) FROM records WHERE topic = topics.id), next_offset) AS first, next_offset AS next
       FROM topics WHERE name = ?`,
    ),
    begin: file.prepare(
      `INSERT INTO group_offsets (group_name, topic, next_offset) VALUES (?, ?, ?)
       ON CONFLICT (group_name, topic) DO UPDATE SET next_offset = excluded.next_offset, done_behind = ''
       WHERE excluded.next_offset > next_offset`,
    ),
    progress: file.prepare(
      `SELECT next_offset, done_behind FROM group_offsets WHERE group_name = ? AND topic = ${idOf}`,
    ),
    remember: file.prepare(
      `INSERT INTO group_offsets (group_name, topic, next_offset, done_behind) VALUES (?, ?, ?, ?)
       ON CONFLICT (group_name, topic) DO UPDATE
       SET next_offset = excluded.next_offset, done_behind = excluded.done_behind`,
    ),
  };
}
