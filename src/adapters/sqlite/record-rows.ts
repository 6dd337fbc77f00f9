import type { NewRecord, ReceivedRecord, RecordHeader } from '../../ports/broker.js';
import type { StoreFile } from './database.js';

type Row = [offset: number, timestamp: number, key: Buffer | null, value: Buffer | null, headers: string | null];
interface TopicEnd {
  readonly id: number;
  readonly next: number;
}

const RECORDS_A_PAGE = 200;
/** A page ends after the record that reaches it: large records do not fill the memory. */
const BYTES_A_PAGE = 1024 * 1024;
/** Every topic has one partition. */
const PARTITION = 0;

/** The tables of topics, records and offsets. */
export class RecordRows {
  readonly #statements;

  constructor({ db }: StoreFile) {
    const columns = 'records.offset, timestamp, key, value, headers';
    const ofTopic = `FROM records JOIN topics ON topics.id = records.topic WHERE topics.name = ?`;
    this.#statements = {
      addTopic: db.prepare<[string]>('INSERT OR IGNORE INTO topics (name) VALUES (?)'),
      topics: db.prepare<[], string>('SELECT name FROM topics ORDER BY name').pluck(),
      end: db.prepare<[string], TopicEnd>(
        `SELECT id, (SELECT coalesce(max(offset), -1) + 1 FROM records WHERE topic = id) AS next
         FROM topics WHERE name = ?`,
      ),
      insert: db.prepare<[number, number, number, Buffer | null, Buffer | null, string | null]>(
        'INSERT INTO records (topic, offset, timestamp, key, value, headers) VALUES (?, ?, ?, ?, ?, ?)',
      ),
      page: db
        .prepare<[string, number], Row>(
          `SELECT ${columns} ${ofTopic} AND records.offset >= ? ORDER BY records.offset LIMIT ${RECORDS_A_PAGE}`,
        )
        .raw(),
      one: db.prepare<[string, number], Row>(`SELECT ${columns} ${ofTopic} AND records.offset = ?`).raw(),
      remembered: db
        .prepare<[string, string], number>(
          'SELECT next FROM offsets JOIN topics ON topics.id = topic WHERE consumer_group = ? AND name = ?',
        )
        .pluck(),
      remember: db.prepare<[string, number, string]>(
        `INSERT INTO offsets (consumer_group, topic, next) SELECT ?, id, ? FROM topics WHERE name = ?
         ON CONFLICT DO UPDATE SET next = excluded.next`,
      ),
    };
  }

  topics(): string[] {
    return this.#statements.topics.all();
  }

  /** Runs within a transaction. */
  addTopics(topics: readonly string[]): void {
    for (const topic of topics) this.#statements.addTopic.run(topic);
  }

  /** Runs within a transaction. */
  append(topic: string, records: readonly NewRecord[], timestamp: number): void {
    this.#statements.addTopic.run(topic);
    const { id, next } = this.#end(topic);
    for (const [index, { key, value, headers }] of records.entries()) {
      this.#statements.insert.run(id, next + index, timestamp, key, value, encode(headers));
    }
  }

  /** The offset that the topic's next record will have; 0 where there is no such topic. */
  end(topic: string): number {
    return this.#end(topic).next;
  }

  #end(topic: string): TopicEnd {
    return this.#statements.end.get(topic) ?? { id: 0, next: 0 };
  }

  /** Some records from that offset on, in order; none at the topic's end. */
  page(topic: string, from: number): ReceivedRecord[] {
    const records: ReceivedRecord[] = [];
    let bytes = 0;
    for (const row of this.#statements.page.iterate(topic, from)) {
      records.push(toRecord(topic, row));
      bytes += row[3]?.length ?? 0;
      if (bytes >= BYTES_A_PAGE) break;
    }
    return records;
  }

  one(topic: string, offset: number): ReceivedRecord | undefined {
    const row = this.#statements.one.get(topic, offset);
    return row && toRecord(topic, row);
  }

  /** The first offset that the group has not done; 0 for a group that is new. */
  remembered(group: string, topic: string): number {
    return this.#statements.remembered.get(group, topic) ?? 0;
  }

  /** Runs within a transaction. */
  remember(group: string, topic: string, next: number): void {
    this.#statements.remember.run(group, next, topic);
  }
}

function toRecord(topic: string, [offset, timestamp, key, value, headers]: Row): ReceivedRecord {
  return { topic, partition: PARTITION, offset, timestamp, key, value, headers: decode(headers) };
}

function encode(headers: readonly RecordHeader[]): string | null {
  if (headers.length === 0) return null;
  return JSON.stringify(headers.map(([name, value]) => [name, value.toString('base64')]));
}

function decode(headers: string | null): RecordHeader[] {
  if (headers === null) return [];
  const pairs = JSON.parse(headers) as [string, string][];
  return pairs.map(([name, value]) => [name, Buffer.from(value, 'base64')]);
}
