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
 * Columns have the names of the port's properties. What strangers write (ids and sources of events, amounts, references,
 * errors, actors) is stored as JSON text: it may contain what UTF-8 can't encode. Times are ms since the epoch, but for those
 * of next attempts. Numbers of `state` are STATE in delivery-row.ts, those of `arrived` ARRIVAL in event-row.ts. toldAt is the
 * publication of the last entry.
 *
 * - deliveries: `last_…` and `given_…` are the two maxima of the fold (ports/delivery-order.ts), `state` is what holds. A
 *   webhook's index begins with the state because most questions leave out nearly all deliveries by it; a list of all merges
 *   the states. A list of all of an account's goes by its events.
 * - …InTrouble leave out what nearly all come to.
 * - Of a delivery's last attempt triedAt, status and error. Status 0: none came; '' is no error.
 * - attempts: by what they are, for one may be in the topic twice. `more` is JSON of what few have, or ''.
 * - routings: an event has one for each time that its record was handed out.
 * - counters: of all webhooks of an account, as JSON, since most questions are about an account.
 * - standing: how many deliveries of a webhook have a state; but for the delivered ones.
 * - recovered: what each recovery requested, with the states of the deliveries, which are asked for often.
 */
export const VIEW_SCHEMA = `
CREATE TABLE view (id TEXT NOT NULL, completeSince INTEGER);

CREATE TABLE events (
  row INTEGER PRIMARY KEY, accountId INTEGER NOT NULL, firstAt INTEGER NOT NULL, payment TEXT NOT NULL,
  eventId TEXT NOT NULL, eventType TEXT NOT NULL, eventSource TEXT, amount TEXT, reference TEXT,
  webhooks TEXT, routedAt INTEGER, toldAt INTEGER NOT NULL, arrived INTEGER NOT NULL
);
CREATE UNIQUE INDEX eventsInOrder ON events (accountId, firstAt, payment);
CREATE INDEX eventsInTrouble ON events (accountId, arrived, firstAt, payment) WHERE arrived <> 4;
CREATE INDEX eventsById ON events (${BLOCK}, accountId, eventId);
CREATE INDEX eventsByReference ON events (${BLOCK}, accountId, reference) WHERE reference IS NOT NULL;

CREATE TABLE routings (
  accountId INTEGER NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL, idx INTEGER NOT NULL,
  event INTEGER NOT NULL, PRIMARY KEY (accountId, partition, offset, idx)
) WITHOUT ROWID;
CREATE INDEX routingsOfEvent ON routings (event);

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY, event INTEGER NOT NULL, accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL,
  firstAt INTEGER NOT NULL, id TEXT NOT NULL, webhookEvent TEXT NOT NULL,
  state INTEGER NOT NULL, triedAt INTEGER NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL,
  progressed INTEGER, requested TEXT, toldAt INTEGER NOT NULL,
  last_state INTEGER NOT NULL, last_chain INTEGER NOT NULL, last_attempts INTEGER NOT NULL, last_at INTEGER NOT NULL,
  last_partition INTEGER NOT NULL, last_nextAttemptAt TEXT, last_waitingFor TEXT, last_step INTEGER,
  given_state INTEGER, given_chain INTEGER, given_attempts INTEGER, given_at INTEGER,
  given_partition INTEGER, given_nextAttemptAt TEXT, given_waitingFor TEXT, given_step INTEGER
);
CREATE INDEX deliveriesOfEvent ON deliveries (event, webhookId);
CREATE INDEX deliveriesInTrouble ON deliveries (accountId, state, firstAt, ${ID_START}) WHERE state <> 0;
CREATE INDEX deliveriesOfWebhook ON deliveries (accountId, webhookId, state, firstAt, ${ID_START});
CREATE INDEX deliveriesById ON deliveries (${BLOCK}, ${ID_START});

CREATE TABLE attempts (
  delivery INTEGER NOT NULL, at INTEGER NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL, durationMs REAL NOT NULL,
  version INTEGER NOT NULL, more TEXT NOT NULL, accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL,
  hasFailed INTEGER NOT NULL, response TEXT, PRIMARY KEY (delivery, at, status, error, durationMs, version, more)
) WITHOUT ROWID;
CREATE INDEX failures ON attempts (accountId, webhookId, at) WHERE hasFailed = 1;

CREATE TABLE recovered (
  accountId INTEGER NOT NULL, recovery TEXT NOT NULL, delivery INTEGER NOT NULL, state INTEGER NOT NULL,
  PRIMARY KEY (accountId, recovery, delivery)
) WITHOUT ROWID;
CREATE INDEX recoveredByDelivery ON recovered (delivery);

CREATE TABLE webhooks (
  accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL, eventType TEXT NOT NULL, since INTEGER NOT NULL,
  toldAt INTEGER NOT NULL, successAt INTEGER, PRIMARY KEY (accountId, webhookId)
) WITHOUT ROWID;

CREATE TABLE standing (
  accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL, state INTEGER NOT NULL, deliveries INTEGER NOT NULL,
  PRIMARY KEY (accountId, webhookId, state)
) WITHOUT ROWID;

CREATE TABLE counters (
  step INTEGER NOT NULL, at INTEGER NOT NULL, accountId INTEGER NOT NULL, partition INTEGER NOT NULL,
  counts TEXT NOT NULL, PRIMARY KEY (step, at, accountId, partition)
) WITHOUT ROWID;

CREATE TABLE positions (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL, beforeOffset INTEGER,
  beforeAt INTEGER, PRIMARY KEY (topic, partition)
) WITHOUT ROWID;

CREATE TRIGGER deliveryChanges AFTER UPDATE OF state ON deliveries WHEN new.state <> old.state BEGIN
  UPDATE standing SET deliveries = deliveries - 1
    WHERE accountId = old.accountId AND webhookId = old.webhookId AND state = old.state;
  INSERT INTO standing SELECT new.accountId, new.webhookId, new.state, 1 WHERE new.state <> 0
    ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
  UPDATE recovered SET state = new.state WHERE delivery = new.row;
END;
CREATE TRIGGER deliveryLeaves AFTER DELETE ON deliveries BEGIN
  UPDATE standing SET deliveries = deliveries - 1
    WHERE accountId = old.accountId AND webhookId = old.webhookId AND state = old.state;
  DELETE FROM attempts WHERE delivery = old.row;
  DELETE FROM recovered WHERE delivery = old.row;
END;
CREATE TRIGGER eventLeaves AFTER DELETE ON events BEGIN
  DELETE FROM deliveries WHERE event = old.row;
  DELETE FROM routings WHERE event = old.row;
END;
CREATE TRIGGER webhookLeaves AFTER DELETE ON webhooks BEGIN
  DELETE FROM standing WHERE accountId = old.accountId AND webhookId = old.webhookId;
END;
`;

/** SQL: a row of a table by its key: of one that is there only `changing` are written. Values in this order. */
export function upsert(
  table: string,
  key: readonly string[],
  changing: readonly string[],
  others: readonly string[] = [],
): string {
  const columns = [...key, ...others, ...changing];
  return `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})
    ON CONFLICT (${key.join()}) DO UPDATE SET ${changing.map((name) => `${name} = excluded.${name}`).join()}`;
}

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

/** Columns that are numbers, text, text or null, and a number or null. */
export type Row<
  Numbers extends string,
  Texts extends string = never,
  TextsOrNull extends string = never,
  NumbersOrNull extends string = never,
> = { readonly [Name in Numbers]: number } & { readonly [Name in Texts]: string } & {
  readonly [Name in TextsOrNull]: string | null;
} & { readonly [Name in NumbersOrNull]: number | null };

/** SQL, for comparing and sorting by an index. @param text an expression */
export function idStart(text: string): string {
  return ID_START.replace('id', text);
}

export function escaped<Text extends string | null>(text: Text): Text {
  return (text === null ? null : JSON.stringify(text)) as Text;
}

/** @throws SyntaxError if the view is damaged */
export function unescaped<Text extends string | null>(stored: Text): Text {
  return (stored === null ? null : JSON.parse(stored)) as Text;
}
