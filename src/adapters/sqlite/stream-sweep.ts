/** Deletes finished streams, whole ones only, and only those whose names start with the prefix. */
import type { NewEvent } from '../../ports/event-store.js';
import { afterPrefix } from './prefix.js';
import type { Swept } from './record-sweep.js';
import type { StoreFile } from './store-file.js';

export interface ExpiringStreams {
  readonly prefix: string;
  /** Whether a stream with this last event is no longer needed. */
  readonly isOver: (last: Pick<NewEvent, 'type' | 'data'>) => boolean;
}

interface Last {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly data: string;
}

const PAGE = 500;

export class StreamSweep {
  readonly #store: StoreFile;
  readonly #streams: ExpiringStreams;
  readonly #sql: ReturnType<typeof statements>;

  constructor(store: StoreFile, streams: ExpiringStreams) {
    this.#store = store;
    this.#streams = streams;
    this.#sql = statements(store);
  }

  /** Visits all of them, one page per iteration. @throws SQLite's error */
  async *remove(): AsyncIterable<Swept> {
    const { prefix, isOver } = this.#streams;
    let from = prefix;
    for (let page: Last[] = []; ; from = page.at(-1)?.stream ?? from) {
      const begun = performance.now();
      page = this.#sql.lasts.all(from, afterPrefix(prefix), PAGE) as Last[];
      const over = page.filter(({ type, data }) => isOver({ type, data: JSON.parse(data) }));
      const looked = performance.now() - begun;
      yield over.length === 0 ? { count: 0, ms: looked } : await this.#removed(over, looked);
      if (page.length < PAGE) return;
    }
  }

  #removed(over: readonly Last[], looked: number): Promise<Swept> {
    return this.#store.write('retention', () => {
      const begun = performance.now();
      let count = 0;
      for (const { stream, revision } of over) count += this.#sql.remove.run({ stream, revision }).changes > 0 ? 1 : 0;
      return { count, ms: looked + performance.now() - begun };
    });
  }
}

function statements({ file }: StoreFile) {
  return {
    // With max(), SQLite takes the other columns from the row with the maximum.
    lasts: file.prepare(
      `SELECT stream, max(revision) AS revision, type, data FROM events
       WHERE stream > ? AND stream < ? GROUP BY stream ORDER BY stream LIMIT ?`,
    ),
    // Skips a stream that was written to since it was read.
    remove: file.prepare(
      `DELETE FROM events WHERE stream = @stream
       AND NOT EXISTS (SELECT 1 FROM events WHERE stream = @stream AND revision > @revision)`,
    ),
  };
}
