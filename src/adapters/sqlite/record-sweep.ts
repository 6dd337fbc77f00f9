/**
 * Deletes old records from the store file, some at a time, each time in its own transaction. Never a record that a
 * group is not done with, nor a topic's newest: its offset and time show what was there. The file never shrinks.
 */
import type { StoreFile } from './store-file.js';

export interface HoldingRules {
  /** Groups that hold records they are not done with, even before they start on the topic; others hold once started. */
  readonly groupsOf: (topic: string) => readonly string[];
}

interface Topic {
  readonly id: number;
  readonly name: string;
  readonly next_offset: number;
}

interface Head {
  readonly offset: number;
  readonly timestamp: number;
  readonly bytes: number;
}

const MOST_AT_ONCE = 500;
/** Of values: a long one is a chain of pages, and deleting visits each of them. */
const MOST_BYTES_AT_ONCE = 1024 * 1024;

export class RecordSweep {
  readonly #store: StoreFile;
  readonly #rules: HoldingRules;
  readonly #sql: ReturnType<typeof statements>;

  constructor(store: StoreFile, rules: HoldingRules) {
    this.#store = store;
    this.#rules = rules;
    this.#sql = statements(store);
  }

  topics(): string[] {
    return (this.#sql.topics.all() as Topic[]).map(({ name }) => name);
  }

  /** The topic's oldest records, up to the first one published at `before` (ms since the epoch) or later. @returns their number */
  remove(name: string, before: number): Promise<number> {
    return this.#store.write('retention', () => {
      const topic = this.#sql.topic.get(name) as Topic | undefined;
      const last = topic && this.#lastToGo(topic, before);
      return last === undefined ? 0 : this.#sql.remove.run(topic?.id, last).changes;
    });
  }

  #lastToGo(topic: Topic, before: number): number | undefined {
    const heads = this.#sql.heads.iterate(topic.id, this.#heldFrom(topic), MOST_AT_ONCE);
    let last: number | undefined;
    let bytes = 0;
    for (const head of heads as IterableIterator<Head>) {
      if (head.timestamp >= before || bytes >= MOST_BYTES_AT_ONCE) break;
      last = head.offset;
      bytes += head.bytes;
    }
    return last;
  }

  /** The first offset to retain. */
  #heldFrom({ id, name, next_offset: end }: Topic): number {
    const rows = this.#sql.groups.all(id) as { group_name: string; next_offset: number }[];
    const required = this.#rules.groupsOf(name);
    const missing = required.some((group) => !rows.some((row) => row.group_name === group));
    return Math.min(end - 1, missing ? 0 : end, ...rows.map((row) => row.next_offset));
  }
}

function statements({ file }: StoreFile) {
  return {
    topics: file.prepare('SELECT id, name, next_offset FROM topics ORDER BY name'),
    topic: file.prepare('SELECT id, name, next_offset FROM topics WHERE name = ?'),
    groups: file.prepare('SELECT group_name, next_offset FROM group_offsets WHERE topic = ?'),
    heads: file.prepare(
      `SELECT offset, timestamp, coalesce(length(value), 0) AS bytes FROM records
       WHERE topic = ? AND offset < ? ORDER BY offset LIMIT +?`,
    ),
    remove: file.prepare('DELETE FROM records WHERE topic = ? AND offset <= ?'),
  };
}
