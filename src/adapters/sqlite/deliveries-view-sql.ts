/** Tables and queries of the deliveries view. */
import type { DeliveryRow } from './delivery-row.js';
import type { SqliteFile } from './open-file.js';

/** Rows. */
export const BLOCK = 4_096;

/**
 * Rows are in the order of their arrival, and so is each webhook's part of by_key: an index in a random order, as by id
 * alone, cost as much as all else. by_outcome leaves out what nearly all deliveries come to. event_ids has a part for each
 * BLOCK of rows, so that only the newest part, which is small, changes: a search looks into each.
 */
export const VIEW_SCHEMA = `
CREATE TABLE view (id TEXT NOT NULL);

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL,
  id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
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

CREATE TABLE event_ids (
  block INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (block, hash, row)
) WITHOUT ROWID;

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
  const names = ['row', 'webhook_id', 'id', 'event_id', 'event_type', 'first_at', 'outcome', 'next_at', 'turn'];
  const columns = [...names, 'said_at', 'last_at', 'attempts'].map((name) => `deliveries.${name}`).join();
  const inOrder = 'first_at >= ? AND (first_at, id) < (?, ?) ORDER BY first_at DESC, id DESC';
  return {
    id: file.prepare('SELECT id FROM view').pluck(),
    name: file.prepare('INSERT INTO view (id) VALUES (?)'),
    insert: file.prepare(
      `INSERT INTO deliveries
         (account_id, webhook_id, first_at, id, event_id, event_type, outcome, next_at, turn, said_at, last_at, attempts)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    find: file.prepare(`SELECT ${columns} FROM deliveries WHERE ${key} AND first_at = ? AND id = ?`),
    update: file.prepare(
      `UPDATE deliveries SET outcome = ?, next_at = ?, turn = ?, said_at = ?, last_at = ?, attempts = ? WHERE row = ?`,
    ),
    addEventId: file.prepare('INSERT OR IGNORE INTO event_ids (block, hash, row) VALUES (?, ?, ?)'),
    nextWebhook: file.prepare('SELECT min(webhook_id) FROM deliveries WHERE account_id = ? AND webhook_id > ?').pluck(),
    all: file.prepare(`SELECT ${columns} FROM deliveries WHERE ${key} AND ${inOrder} LIMIT ?`),
    ofOutcome: file.prepare(
      `SELECT ${columns} FROM deliveries WHERE ${key} AND outcome = ? AND outcome <> 'delivered' AND ${inOrder} LIMIT ?`,
    ),
    ofEvent: file.prepare(
      `WITH RECURSIVE blocks (n) AS (
         SELECT max(block) FROM event_ids
         UNION ALL SELECT n - 1 FROM blocks WHERE n > (SELECT min(block) FROM event_ids)
       )
       SELECT ${columns} FROM blocks
       CROSS JOIN event_ids ON event_ids.block = blocks.n AND event_ids.hash = ?
       CROSS JOIN deliveries ON deliveries.row = event_ids.row
       WHERE account_id = ? AND event_id = ? AND first_at >= ? AND (first_at, id) < (?, ?)
       ORDER BY first_at DESC, id DESC`,
    ),
    forgetDeliveries: file.prepare(
      'DELETE FROM deliveries WHERE row IN (SELECT row FROM deliveries ORDER BY row LIMIT ?) AND last_at < ?',
    ),
    forgetEventIds: file.prepare(
      `DELETE FROM event_ids WHERE block < coalesce((SELECT min(row) FROM deliveries) / ${BLOCK}, ${Number.MAX_SAFE_INTEGER})`,
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
