/** The tables of the deliveries view. */
import type { Statements, Value } from '../statements.js';

/**
 * SQL: the part of an index of texts to which a row belongs. Ids come in no order, and an index of all of them would change
 * in as many pages as a transaction has rows, all over the file. So such an index is ordered by blocks of rows, of which only
 * the newest changes. A search looks into the blocks in which its account has rows (table `blocks`), some at a time.
 */
export const BLOCK = 'row >> 13';

/**
 * Columns have the names of the port's properties. What strangers write (ids and sources of events, amounts, references,
 * errors, actors) is stored as JSON text: it may contain what UTF-8 can't encode. Times are ms since the epoch, but for those
 * of next attempts. Numbers of `state` are STATE in delivery-row.ts, those of `arrived` ARRIVAL in event-row.ts, steps and
 * kinds of counters stand in counters.ts.
 *
 * - events: `webhooks` are those of all of its `routed` entries, as JSON; routedAt, partition, offset and idx are the first
 *   such entry, null until one comes. toldAt is the publication of the last entry of the event or its deliveries.
 * - deliveries: `state` is what holds, `fold` is JSON of what it comes from, null of what came at once. A webhook's index
 *   begins with the state because most questions leave out nearly all deliveries by it; a list of all merges the states.
 *   triedAt, status and error are of the last attempt; status 0: none came; '' is no error.
 * - paymentOffset: the offset in `payment`. Producers may give any number of payments one time; of one time and one offset
 *   there are no more than partitions, so sorting those by payment and id is bounded.
 * - …InTrouble leave out what nearly all come to.
 * - blocks: in which blocks of rows of a table an account has any. found-rows.ts adds them. With a trigger on inserts, SQLite
 *   copies each page into a statement journal before a row changes it: 52 KB were written per delivery instead of 5.
 * - attempts: by what they are, for one may be in the topic twice. `more` is JSON of what few have, or ''.
 * - counters: each partition of the topic has its part of a sum, and -1 has what is taken back of deliveries that leave. Those
 *   of step 0 say how many deliveries stand so now, and have the event type of their webhook.
 * - requests: the chains of which something other than a cancellation is known; `progress` counts those of recoveries by
 *   state, for it is asked for often.
 */
export const VIEW_SCHEMA = `
CREATE TABLE view (id TEXT NOT NULL, completeSince INTEGER);
INSERT INTO view (id) VALUES (hex(randomblob(8)));

CREATE TABLE events (
  row INTEGER PRIMARY KEY, accountId INTEGER NOT NULL, firstAt INTEGER NOT NULL, payment TEXT NOT NULL,
  eventId TEXT NOT NULL, eventType TEXT NOT NULL, eventSource TEXT, amount TEXT, reference TEXT, webhooks TEXT NOT NULL,
  routedAt INTEGER, partition INTEGER, offset INTEGER, idx INTEGER, toldAt INTEGER NOT NULL, arrived INTEGER NOT NULL,
  paymentOffset INTEGER NOT NULL
);
CREATE UNIQUE INDEX eventsInOrder ON events (accountId, firstAt, paymentOffset, payment);
CREATE INDEX eventsInFeed ON events (accountId, partition, offset, idx);
CREATE INDEX eventsInTrouble ON events (accountId, arrived, firstAt, paymentOffset, payment) WHERE arrived <> 4;
CREATE INDEX eventsById ON events (${BLOCK}, accountId, eventId, row DESC);
CREATE INDEX eventsByReference ON events (${BLOCK}, accountId, reference, row DESC) WHERE reference IS NOT NULL;

CREATE TABLE deliveries (
  row INTEGER PRIMARY KEY, event INTEGER NOT NULL, accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL,
  firstAt INTEGER NOT NULL, paymentOffset INTEGER NOT NULL, id TEXT NOT NULL, webhookEvent TEXT NOT NULL,
  state INTEGER NOT NULL, triedAt INTEGER NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL, fold TEXT
);
CREATE INDEX deliveriesOfEvent ON deliveries (event, webhookId);
CREATE INDEX deliveriesInTrouble ON deliveries (accountId, state, firstAt, paymentOffset) WHERE state <> 0;
CREATE INDEX deliveriesOfWebhook ON deliveries (accountId, webhookId, state, firstAt, paymentOffset);
CREATE INDEX deliveriesById ON deliveries (${BLOCK}, accountId, id, row DESC);

CREATE TABLE blocks (
  tableName TEXT NOT NULL, accountId INTEGER NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (tableName, accountId, block)
) WITHOUT ROWID;

CREATE TABLE attempts (
  delivery INTEGER NOT NULL, at INTEGER NOT NULL, status INTEGER NOT NULL, error TEXT NOT NULL, durationMs REAL NOT NULL,
  version INTEGER NOT NULL, more TEXT NOT NULL, accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL, response TEXT,
  PRIMARY KEY (delivery, at, status, error, durationMs, version, more)
) WITHOUT ROWID;
CREATE INDEX failures ON attempts (accountId, webhookId, at, status, error) WHERE status / 100 <> 2;

CREATE TABLE requests (
  delivery INTEGER NOT NULL, chain INTEGER NOT NULL, accountId INTEGER NOT NULL, recovery TEXT, state INTEGER NOT NULL,
  PRIMARY KEY (delivery, chain)
) WITHOUT ROWID;
CREATE TABLE progress (
  accountId INTEGER NOT NULL, recovery TEXT NOT NULL, state INTEGER NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (accountId, recovery, state)
) WITHOUT ROWID;

CREATE TABLE counters (
  step INTEGER NOT NULL, at INTEGER NOT NULL, accountId INTEGER NOT NULL, webhookId INTEGER NOT NULL, kind INTEGER NOT NULL,
  partition INTEGER NOT NULL, eventType TEXT, n INTEGER NOT NULL,
  PRIMARY KEY (step, at, accountId, webhookId, kind, partition)
) WITHOUT ROWID;

CREATE TABLE positions (
  topic TEXT NOT NULL, partition INTEGER NOT NULL, position TEXT NOT NULL, PRIMARY KEY (topic, partition)
) WITHOUT ROWID;

CREATE TRIGGER deliveryLeaves AFTER DELETE ON deliveries BEGIN
  INSERT INTO counters (step, at, accountId, webhookId, kind, partition, n)
    SELECT 0, 0, old.accountId, old.webhookId, old.state, -1, -1 WHERE old.state > 1
    ON CONFLICT DO UPDATE SET n = n - 1;
  DELETE FROM attempts WHERE delivery = old.row;
  DELETE FROM requests WHERE delivery = old.row;
END;
CREATE TRIGGER eventLeaves AFTER DELETE ON events BEGIN
  DELETE FROM deliveries WHERE event = old.row;
END;
${['events', 'deliveries'].map(blockTrigger).join('')}
CREATE TRIGGER requestComes AFTER INSERT ON requests WHEN new.recovery IS NOT NULL BEGIN
  ${progressed('new', 1)}
END;
CREATE TRIGGER requestLeaves AFTER DELETE ON requests WHEN old.recovery IS NOT NULL BEGIN
  ${progressed('old', -1)}
END;
CREATE TRIGGER requestChanges AFTER UPDATE ON requests WHEN new.recovery IS NOT NULL BEGIN
  ${progressed('new', 1)}
END;
CREATE TRIGGER requestChanged AFTER UPDATE ON requests WHEN old.recovery IS NOT NULL BEGIN
  ${progressed('old', -1)}
END;
`;

function blockTrigger(table: string): string {
  return `
CREATE TRIGGER ${table}BlockEnds AFTER DELETE ON ${table} BEGIN
  DELETE FROM blocks WHERE tableName = '${table}' AND accountId = old.accountId AND block = old.row >> 13
    AND NOT EXISTS (SELECT 1 FROM ${table} WHERE ${BLOCK} = old.row >> 13 AND accountId = old.accountId);
END;
`;
}

/** SQL: a request of a recovery counts, or no longer. @param row of the trigger */
function progressed(row: 'new' | 'old', by: 1 | -1): string {
  const key = `(accountId, recovery, state) = (${row}.accountId, ${row}.recovery, ${row}.state)`;
  return `INSERT INTO progress VALUES (${row}.accountId, ${row}.recovery, ${row}.state, ${by})
    ON CONFLICT DO UPDATE SET n = n + ${by};
  DELETE FROM progress WHERE ${key} AND n = 0;`;
}

/** Writes a row. Of one that is there only `changing` are written; a new one has no `row`. @returns its `row` */
export function writer<Name extends string>(table: string, fixed: readonly Name[], changing: readonly Name[]) {
  const names = ['row', ...fixed, ...changing] as const;
  // By position: with names and RETURNING a delivery took 11 us more.
  const text = `INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => '?').join()})
    ON CONFLICT (row) DO UPDATE SET ${changing.map((name) => `${name} = excluded.${name}`).join()}`;
  return (sql: Statements, row: Readonly<Record<'row', number | null> & Record<Name, Value>>): number => {
    const values = names.map((name) => row[name]);
    const { lastInsertRowid } = sql.run(text, values);
    return row.row ?? Number(lastInsertRowid);
  };
}

export function escaped<Text extends string | null>(text: Text): Text {
  return (text === null ? null : JSON.stringify(text)) as Text;
}

/** @throws SyntaxError if the view is damaged */
export function unescaped<Text extends string | null>(stored: Text): Text {
  return (stored === null ? null : JSON.parse(stored)) as Text;
}

/** The offset in the place of a payment's record, `topic/partition/offset@ms`; -1 if there is none. */
export function offsetIn(payment: string): number {
  const offset = Number.parseInt(payment.slice(payment.lastIndexOf('/') + 1), 10);
  return offset >= 0 ? Math.min(offset, Number.MAX_SAFE_INTEGER) : -1;
}
