/**
 * Retention of the store file: deletes old records in the background, in small transactions with a rest after each. Never a
 * record that a group is not done with, nor a topic's newest: its offset and time show what was there. The history stays, and
 * the file never shrinks.
 */
import type { Logger } from '../../observability/logger.js';
import { codeOf } from './open-file.js';
import type { StoreFile } from './store-file.js';

export interface RetentionRules {
  /** How long a record is kept, ms; null: forever. */
  readonly keptMs: number | null;
  /** Groups that hold records they are not done with, even before they start on the topic; others hold once started. */
  readonly groupsOf: (topic: string) => readonly string[];
}

export interface SweeperParts {
  readonly store: StoreFile;
  readonly rules: RetentionRules;
  readonly logger: Logger;
  /** ms since the epoch */
  readonly now: () => number;
  /** Fulfilled after that many ms, or when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
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

const FIRST_AFTER_MS = 10_000;
const PAUSE_MS = 60_000;
/** Rest as a multiple of the time that a transaction took, with its turn and its commit. */
const REST = 4;
const MOST_AT_ONCE = 500;
/** Of values: a long one is a chain of pages, and deleting visits each of them. */
const MOST_BYTES_AT_ONCE = 1024 * 1024;

export class Sweeper {
  readonly #parts: SweeperParts;
  readonly #sql: ReturnType<typeof statements>;
  readonly #stopping = new AbortController();
  #running: Promise<void> | null = null;
  /** A failure is logged once, not every minute. */
  #hasFailed = false;

  constructor(parts: SweeperParts) {
    this.#parts = parts;
    this.#sql = statements(parts.store);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    const { pause } = this.#parts;
    await pause(FIRST_AFTER_MS, signal);
    while (!signal.aborted) {
      await this.#round();
      await pause(PAUSE_MS, signal);
    }
  }

  async #round(): Promise<void> {
    const { store, rules, logger, now } = this.#parts;
    try {
      if (rules.keptMs !== null) await this.#byAge(now() - rules.keptMs);
      this.#hasFailed = false;
    } catch (error) {
      store.noticeDamage(error);
      if (this.#stopping.signal.aborted || this.#hasFailed) return;
      this.#hasFailed = true;
      logger.warn({ err: error, code: codeOf(error) }, 'retention failed; retrying');
    }
  }

  async #byAge(before: number): Promise<void> {
    const { signal } = this.#stopping;
    for (const { id } of this.#sql.topics.all() as Topic[]) {
      while (!signal.aborted) {
        const begun = performance.now();
        if ((await this.#remove(id, before)) === 0) break;
        await this.#parts.pause(REST * (performance.now() - begun), signal);
      }
    }
  }

  /** The topic's oldest records, up to the first one published at `before` (ms since the epoch) or later. @returns their number */
  #remove(id: number, before: number): Promise<number> {
    return this.#parts.store.write('retention', () => {
      const last = this.#lastToGo(this.#sql.topic.get(id) as Topic, before);
      return last === undefined ? 0 : this.#sql.remove.run(id, last).changes;
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
    const required = this.#parts.rules.groupsOf(name);
    const missing = required.some((group) => !rows.some((row) => row.group_name === group));
    return Math.min(end - 1, missing ? 0 : end, ...rows.map((row) => row.next_offset));
  }
}

function statements({ file }: StoreFile) {
  return {
    topics: file.prepare('SELECT id, name, next_offset FROM topics ORDER BY name'),
    topic: file.prepare('SELECT id, name, next_offset FROM topics WHERE id = ?'),
    groups: file.prepare('SELECT group_name, next_offset FROM group_offsets WHERE topic = ?'),
    heads: file.prepare(
      `SELECT offset, timestamp, coalesce(length(value), 0) AS bytes FROM records
       WHERE topic = ? AND offset < ? ORDER BY offset LIMIT +?`,
    ),
    remove: file.prepare('DELETE FROM records WHERE topic = ? AND offset <= ?'),
  };
}
