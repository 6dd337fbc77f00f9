/** Samples of the topic's places: enough to detect that the topic was recreated. */
import { type EntryPlace, ViewUnsound } from '../../ports/deliveries-view.js';
import type { SqliteFile } from './open-file.js';

/** One place per partition is stored for each such span of record time. */
const MARK_EVERY_MS = 10_000;

export class TopicMarks {
  readonly #sql: ReturnType<typeof statements>;
  /** The newest one of each partition. */
  #newest = new Map<number, EntryPlace>();

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
    this.reload();
  }

  /** Call after a transaction that failed. */
  reload(): void {
    const marks = this.#sql.newest.all() as EntryPlace[];
    this.#newest = new Map(marks.map((place) => [place.partition, place]));
  }

  /** @throws ViewUnsound if another entry was at this place */
  add(place: EntryPlace): void {
    const { partition, offset, timestamp } = place;
    const last = this.#newest.get(partition);
    if (last && offset <= last.offset) {
      const known = this.#sql.at.get(partition, offset) as number | undefined;
      if (known !== undefined && known !== timestamp) throw new ViewUnsound('the deliveries view is of another topic');
    } else if (!last || timestamp - last.timestamp >= MARK_EVERY_MS) {
      this.#sql.add.run(partition, offset, timestamp);
      this.#newest.set(partition, place);
    }
  }

  forget(before: number, limit: number): void {
    this.#sql.forget.run(limit, before);
  }
}

function statements(file: SqliteFile) {
  return {
    newest: file.prepare('SELECT partition, max(offset) AS offset, timestamp FROM marks GROUP BY partition'),
    at: file.prepare('SELECT timestamp FROM marks WHERE partition = ? AND offset = ?').pluck(),
    add: file.prepare('INSERT INTO marks (partition, offset, timestamp) VALUES (?, ?, ?)'),
    forget: file.prepare(
      'DELETE FROM marks WHERE row IN (SELECT row FROM marks ORDER BY row LIMIT ?) AND timestamp < ?',
    ),
  };
}
