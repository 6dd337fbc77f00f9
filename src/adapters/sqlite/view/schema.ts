/** The tables of the deliveries view. */

/**
 * Characters of a delivery's id that an index holds: 48 bits of its hash. They order the deliveries of one ms nearly always,
 * and the whole id would take 57 bytes more a delivery, over three indexes.
 */
const ID_START = 'substr(id, 1, 12)';

/**
 * SQL: the part of an index of ids to which a row belongs. Ids come in no order, and an index of all of them would change
 * in as many pages as a transaction has rows, all over the file. So an index of ids is ordered by blocks of rows, of which
 * only the newest changes, and a search looks into each: 3,000 among 24 million deliveries.
 */
const BLOCK = 'row >> 13';

/**
 * What strangers write (ids and sources of events, amounts, references, errors, actors) is stored as JSON text: it may contain
 * what UTF-8 can't encode. Times are ms since the epoch. Numbers of `state` are STATE in delivery-row.ts, those of `arrived`
 * ARRIVAL in event-row.ts.
 *
 * - deliveries: `last_…` and `given_…` are the two maxima of the fold (ports/delivery-order.ts), `state` is what holds. A
 *   webhook's index begins with the state because most questions leave out nearly all deliveries by it; a list of all merges
 *   the states. A list of all of an account's goes by its events.
 * - …_in_trouble leave out what nearly all come to.
 * - routings: an event has one for each time that its record was handed out.
 * - counters: of all webhooks of an account, as JSON, since most questions are about an account.
 * - recovered: what each recovery requested, with the states of the deliveries, which are counted often.
 */
export const VIEW_SCHEMA = `
CREATE TABLE view (id TEXT NOT NULL, complete_since INTEGER);

CREATE TABLE events (
  row INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, first_at INTEGER NOT NULL, payment TEXT NOT NULL,
  event_id TEXT NOT NULL, event_source TEXT, event_type TEXT NOT NULL, amount TEXT, reference TEXT,
  webhooks TEXT, routed_at INTEGER, last_at INTEGER NOT NULL, arrived INTEGER NOT NULL
);
CREATE UNIQUE INDEX events_in_order ON events (account_id, first_at, payment);
CREATE INDEX events_in_trouble ON events (account_id, arrived, first_at, payment) WHERE arrived <> 4;
CREATE INDEX events_by_id ON events (${BLOCK}, account_id, event_id);
CREATE INDEX events_by_reference ON events (${BLOCK}, account_id, reference) WHERE reference IS NOT NULL;

CREATE TABLE routings (
  account_id INTEGER NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL, idx INTEGER NOT NULL,
  event INTEGER NOT NULL, PRIMARY KEY (account_id, partition, offset, idx)
) WITHOUT ROWID;
CREATE INDEX routings_of_event ON routings (event);

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY, event INTEGER NOT NULL, account_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL,
  first_at INTEGER NOT NULL, id TEXT NOT NULL, webhook_event TEXT NOT NULL,
  state INTEGER NOT NULL, answer INTEGER NOT NULL, error TEXT,
  last_state INTEGER NOT NULL, last_chain INTEGER NOT NULL, last_made INTEGER NOT NULL,
  last_said_at INTEGER NOT NULL, last_partition INTEGER NOT NULL, next_at TEXT, waiting_for TEXT, step INTEGER,
  given_state INTEGER, given_chain INTEGER, given_made INTEGER, given_said_at INTEGER, given_partition INTEGER,
  progressed INTEGER, requested TEXT, last_at INTEGER NOT NULL
);
CREATE INDEX deliveries_of_event ON deliveries (event, webhook_id);
CREATE INDEX deliveries_in_trouble ON deliveries (account_id, state, first_at, ${ID_START}) WHERE state <> 0;
CREATE INDEX deliveries_of_webhook ON deliveries (account_id, webhook_id, state, first_at, ${ID_START});
CREATE INDEX deliveries_by_id ON deliveries (${BLOCK}, ${ID_START});

CREATE TABLE attempts (
  delivery INTEGER NOT NULL, number INTEGER NOT NULL, account_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL,
  at INTEGER NOT NULL, has_failed INTEGER NOT NULL, status INTEGER, error TEXT, duration_ms REAL NOT NULL,
  version INTEGER NOT NULL, reason TEXT, triggered_by TEXT, actor TEXT, response TEXT, PRIMARY KEY (delivery, number)
) WITHOUT ROWID;
CREATE INDEX failures ON attempts (account_id, webhook_id, at) WHERE has_failed = 1;

CREATE TABLE recovered (
  account_id INTEGER NOT NULL, recovery TEXT NOT NULL, delivery INTEGER NOT NULL, state INTEGER NOT NULL,
  PRIMARY KEY (account_id, recovery, delivery)
) WITHOUT ROWID;
CREATE INDEX recovered_by_delivery ON recovered (delivery);

CREATE TABLE webhooks (
  account_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, event_type TEXT NOT NULL, since INTEGER NOT NULL,
  last_at INTEGER NOT NULL, success_at INTEGER, waiting INTEGER NOT NULL, held INTEGER NOT NULL,
  exhausted INTEGER NOT NULL, PRIMARY KEY (account_id, webhook_id)
) WITHOUT ROWID;

CREATE TABLE counters (
  step INTEGER NOT NULL, at INTEGER NOT NULL, account_id INTEGER NOT NULL, partition INTEGER NOT NULL,
  counts TEXT NOT NULL, PRIMARY KEY (step, at, account_id, partition)
) WITHOUT ROWID;

CREATE TABLE positions (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL, before_offset INTEGER,
  before_at INTEGER, PRIMARY KEY (topic, partition)
) WITHOUT ROWID;
`;

/** SQL for FROM: the blocks of a table, the newest first. */
export function blocksOf(table: 'events' | 'deliveries'): string {
  return `(
    WITH RECURSIVE blocks (n) AS (
      SELECT max(row) >> 13 FROM ${table}
      UNION ALL SELECT n - 1 FROM blocks WHERE n > (SELECT min(row) >> 13 FROM ${table})
    )
    SELECT n FROM blocks
  ) AS blocks`;
}

/** SQL, for comparing and sorting by an index. @param text an expression */
export function idStart(text: string): string {
  return ID_START.replace('id', text);
}

/** A row's columns. */
export type Columns<Whole extends string, Text extends string, TextOrNull extends string = never> = {
  readonly [Column in Whole]: number;
} & { readonly [Column in Text]: string } & { readonly [Column in TextOrNull]: string | null };
