/** Tables and queries of the deliveries view. */
import type { DeliveryRow } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';

/**
 * Rows are in the order of their arrival, and so is each webhook's part of by_key: an index in a random order, as by id
 * alone, cost as much as all else. by_outcome leaves out what nearly all deliveries come to.
 */
export const VIEW_SCHEMA = `
CREATE TABLE view (id TEXT NOT NULL);

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  first_at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  next_at TEXT,
  turn INTEGER NOT NULL,
  said_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  attempts TEXT NOT NULL
);
CREATE UNIQUE INDEX by_key ON deliveries (account_id, webhook_id, first_at, id);
CREATE INDEX by_outcome ON deliveries (account_id, webhook_id, outcome, first_at, id) WHERE outcome <> 'delivered';

CREATE TABLE marks (
  row INTEGER PRIMARY KEY,
  partition INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  UNIQUE (partition, offset)
);
`;

export function viewStatements(file: SqliteFile) {
  const key = 'account_id = ? AND webhook_id = ?';
  const columns = 'row, id, event_id, first_at, outcome, next_at, turn, said_at, last_at, attempts';
  const inOrder = 'first_at >= ? AND (first_at, id) < (?, ?) ORDER BY first_at DESC, id DESC';
  return {
    id: file.prepare('SELECT id FROM view').pluck(),
    name: file.prepare('INSERT INTO view (id) VALUES (?)'),
    insert: file.prepare(
      `INSERT INTO deliveries
         (account_id, webhook_id, first_at, id, event_id, outcome, next_at, turn, said_at, last_at, attempts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    find: file.prepare(`SELECT ${columns} FROM deliveries WHERE ${key} AND first_at = ? AND id = ?`),
    update: file.prepare(
      `UPDATE deliveries SET outcome = ?, next_at = ?, turn = ?, said_at = ?, last_at = ?, attempts = ? WHERE row = ?`,
    ),
    all: file.prepare(`SELECT ${columns} FROM deliveries WHERE ${key} AND ${inOrder}`),
    ofOutcome: file.prepare(
      `SELECT ${columns} FROM deliveries WHERE ${key} AND outcome = ? AND outcome <> 'delivered' AND ${inOrder}`,
    ),
    forgetDeliveries: file.prepare(
      'DELETE FROM deliveries WHERE row IN (SELECT row FROM deliveries ORDER BY row LIMIT ?) AND last_at < ?',
    ),
    marks: file.prepare('SELECT partition, max(offset) AS offset, timestamp FROM marks GROUP BY partition'),
    markAt: file.prepare('SELECT timestamp FROM marks WHERE partition = ? AND offset = ?').pluck(),
    mark: file.prepare('INSERT INTO marks (partition, offset, timestamp) VALUES (?, ?, ?)'),
    forgetMarks: file.prepare(
      'DELETE FROM marks WHERE row IN (SELECT row FROM marks ORDER BY row LIMIT ?) AND timestamp < ?',
    ),
  };
}

/** Values in the order of insert and update. */
export function changing({ outcome, next_at, turn, said_at, last_at, attempts }: Omit<DeliveryRow, 'row'>) {
  return [outcome, next_at, turn, said_at, last_at, attempts] as const;
}
