/** Tables and queries of the deliveries view. */
import type { DeliveryRow } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';

/** by_time has the outcome before the time: a rare outcome among millions is found without scanning the others. */
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
CREATE UNIQUE INDEX by_id ON deliveries (id, webhook_id, account_id);
CREATE INDEX by_time ON deliveries (webhook_id, account_id, outcome, first_at);

CREATE TABLE marks (
  row INTEGER PRIMARY KEY,
  partition INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  UNIQUE (partition, offset)
);
`;

export function viewStatements(file: SqliteFile) {
  const columns = 'id, event_id, first_at, outcome, next_at, turn, said_at, last_at, attempts';
  return {
    id: file.prepare('SELECT id FROM view').pluck(),
    name: file.prepare('INSERT INTO view (id) VALUES (?)'),
    insert: file.prepare(
      `INSERT INTO deliveries (account_id, webhook_id, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    ),
    find: file.prepare(`SELECT ${columns} FROM deliveries WHERE id = ? AND webhook_id = ? AND account_id = ?`),
    update: file.prepare(
      `UPDATE deliveries SET first_at = ?, outcome = ?, next_at = ?, turn = ?, said_at = ?, last_at = ?, attempts = ?
       WHERE id = ? AND webhook_id = ? AND account_id = ?`,
    ),
    page: file.prepare(
      `SELECT ${columns} FROM deliveries
       WHERE webhook_id = ? AND account_id = ? AND outcome = ? AND first_at >= ? AND (first_at, id) < (?, ?)
       ORDER BY first_at DESC, id DESC LIMIT ?`,
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
export function changing({ first_at, outcome, next_at, turn, said_at, last_at, attempts }: DeliveryRow) {
  return [first_at, outcome, next_at, turn, said_at, last_at, attempts] as const;
}
