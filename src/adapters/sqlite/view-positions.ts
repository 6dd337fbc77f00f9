/** The view's positions in its topic, stored in the transactions that add what was read there. */
import type { Position, Positions } from '../../ports/broker.js';
import type { SqliteFile } from './open-file.js';

interface Row {
  readonly partition: number;
  readonly offset: number;
  readonly before_offset: number | null;
  readonly before_at: number | null;
}

export class ViewPositions {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  all(): Positions {
    return new Map((this.#sql.all.all() as Row[]).map((row) => [row.partition, positionOf(row)]));
  }

  set(positions: Positions): void {
    for (const [partition, { offset, before }] of positions) {
      this.#sql.set.run(partition, offset, before?.offset ?? null, before?.timestamp ?? null);
    }
  }
}

function positionOf({ offset, before_offset, before_at }: Row): Position {
  const before = before_offset === null || before_at === null ? null : { offset: before_offset, timestamp: before_at };
  return { offset, before };
}

function statements(file: SqliteFile) {
  return {
    all: file.prepare('SELECT partition, offset, before_offset, before_at FROM positions'),
    set: file.prepare(
      'INSERT OR REPLACE INTO positions (partition, offset, before_offset, before_at) VALUES (?, ?, ?, ?)',
    ),
  };
}
