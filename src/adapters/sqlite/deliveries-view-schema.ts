/** The tables of the deliveries view. */

/** A delivery's row number is its event's number times this, plus its own number among the deliveries of the event. */
export const PER_EVENT = 4_096;

/** Records of a partition whose routings share a part of the feed. */
export const FEED_BLOCK = 512;

/**
 * Rows and each webhook's part of an index are in the order of arrival: an index in a random order over the whole file
 * costs as much as all else. `hashes` has a part for each block of events, and `feed` one for each block of records, so only
 * their newest parts change. by_state and by_answer leave out what nearly all deliveries come to. Counters are in the order
 * of hours, and one row has those of all webhooks of an account: most calls of add change few of them. An hour's minutes
 * are added up once, when it is over: `folded` is the last minute of which `hours` has the counts. `recovered` has what each
 * recovery requested, with the states of the rows.
 */
export const VIEW_SCHEMA = `
CREATE TABLE view (id TEXT NOT NULL);

CREATE TABLE events (
  row INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  payment TEXT NOT NULL,
  event_id TEXT NOT NULL,
  event_source TEXT,
  event_type TEXT NOT NULL,
  webhooks TEXT,
  routed_at INTEGER,
  last_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_in_order ON events (account_id, first_at, payment);

CREATE TABLE feed (
  partition INTEGER NOT NULL,
  block INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  event INTEGER NOT NULL,
  PRIMARY KEY (partition, block, account_id, offset, idx)
) WITHOUT ROWID;

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY,
  account_id INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL,
  first_at INTEGER NOT NULL,
  id TEXT NOT NULL,
  webhook_event TEXT NOT NULL,
  state INTEGER NOT NULL,
  next_at TEXT,
  waiting_for TEXT,
  step INTEGER,
  chain INTEGER NOT NULL,
  made INTEGER NOT NULL,
  said_at INTEGER NOT NULL,
  beside TEXT,
  again TEXT,
  last_at INTEGER NOT NULL,
  answer INTEGER NOT NULL,
  error TEXT,
  attempts TEXT NOT NULL
);
CREATE UNIQUE INDEX by_key ON deliveries (account_id, webhook_id, first_at, id, row / ${PER_EVENT});
CREATE INDEX by_state ON deliveries (account_id, webhook_id, state, first_at, id) WHERE state <> 0;
CREATE INDEX by_answer ON deliveries (account_id, webhook_id, answer, first_at, id) WHERE answer <> 2;

CREATE TABLE recovered (
  account_id INTEGER NOT NULL,
  recovery TEXT NOT NULL,
  row INTEGER NOT NULL,
  state INTEGER NOT NULL,
  PRIMARY KEY (account_id, recovery, row)
) WITHOUT ROWID;
CREATE INDEX recovered_by_row ON recovered (row);

CREATE TABLE responses (
  row INTEGER NOT NULL,
  at TEXT NOT NULL,
  response TEXT NOT NULL,
  PRIMARY KEY (row, at)
) WITHOUT ROWID;

CREATE TABLE hashes (
  block INTEGER NOT NULL,
  hash INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (block, hash, row)
) WITHOUT ROWID;

CREATE TABLE webhooks (
  account_id INTEGER NOT NULL,
  webhook_id INTEGER NOT NULL,
  event_type TEXT NOT NULL,
  since INTEGER NOT NULL,
  deliveries INTEGER NOT NULL,
  waiting INTEGER NOT NULL,
  held INTEGER NOT NULL,
  exhausted INTEGER NOT NULL,
  success_at INTEGER NOT NULL,
  failure_at INTEGER NOT NULL,
  failure_status INTEGER,
  failure_error TEXT,
  failing_since INTEGER NOT NULL,
  PRIMARY KEY (account_id, webhook_id)
) WITHOUT ROWID;

CREATE TABLE minutes (
  hour INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (hour, account_id, at)
) WITHOUT ROWID;

CREATE TABLE hours (
  hour INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  counts TEXT NOT NULL,
  PRIMARY KEY (hour, account_id)
) WITHOUT ROWID;

CREATE TABLE folded (
  hour INTEGER NOT NULL,
  account_id INTEGER NOT NULL,
  at INTEGER NOT NULL
);
INSERT INTO folded (hour, account_id, at) VALUES (-1, 0, 0);

CREATE TABLE positions (
  topic TEXT NOT NULL,
  partition INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  before_offset INTEGER,
  before_at INTEGER,
  PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
`;
