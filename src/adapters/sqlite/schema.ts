import type { FileSchema } from './file-schema.js';

const STORE_SCHEMA = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (stream, revision)
);

CREATE TABLE topics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, next_offset INTEGER NOT NULL);

CREATE TABLE records (
  topic INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  key BLOB,
  value BLOB,
  headers TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  PRIMARY KEY (topic, offset)
);

CREATE TABLE group_offsets (
  group_name TEXT NOT NULL,
  topic INTEGER NOT NULL,
  next_offset INTEGER NOT NULL,
  done_behind TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (group_name, topic)
) WITHOUT ROWID;
`;

/** store.sqlite: history and broker in one file. "awst" */
export const STORE: FileSchema = {
  applicationId: 0x61777374,
  shape: 4,
  schema: STORE_SCHEMA,
};
