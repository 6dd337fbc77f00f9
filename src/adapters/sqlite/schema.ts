import type { FileSchema } from './file-schema.js';

/** Only ever extended, by statements that are safe to repeat: they upgrade a file of an earlier version. */
const STORE_SCHEMA = `
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE IF NOT EXISTS events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (stream, revision)
);

CREATE TABLE IF NOT EXISTS topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, next_offset INTEGER NOT NULL);

CREATE TABLE IF NOT EXISTS records (
  topic INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  key BLOB,
  value BLOB,
  headers TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  PRIMARY KEY (topic, offset)
);

CREATE TABLE IF NOT EXISTS group_offsets (
  group_name TEXT NOT NULL,
  topic INTEGER NOT NULL,
  next_offset INTEGER NOT NULL,
  PRIMARY KEY (group_name, topic)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS group_claims (
  group_name TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  is_locked INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** store.sqlite: history and broker in one file. "awst" */
export const STORE: FileSchema = {
  applicationId: 0x61777374,
  shape: 2,
  schema: STORE_SCHEMA,
  unmarked: ['meta', 'events', 'topics', 'records', 'group_offsets'],
};
