/**
 * The audit as tables, and each of its rules (docs/audit.md) as one query.
 *
 * `part` numbers the partitions of payment topics; with `offset` it names a payment record. `own`: the entry's revisions are
 * those of the audited store.
 */
export const SCHEMA = `
/* Every record that the payment topics have. kind: payment, invalid or held (by a transaction); null: not of the period. */
CREATE TABLE records (part INTEGER, offset INTEGER, at INTEGER, kind TEXT, open INTEGER, account INTEGER, type TEXT,
  event TEXT, buried INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (part, offset)) WITHOUT ROWID;
/* Unreadable batches, of any time: no record of a batch shows when it was published. */
CREATE TABLE batches (part INTEGER, offset INTEGER, digest TEXT, open INTEGER, buried INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (part, offset, digest)) WITHOUT ROWID;
/* Entries of records of the period. A doubled entry is two. */
CREATE TABLE routed (part INTEGER, offset INTEGER, entry INTEGER, own INTEGER, routed INTEGER, confirmed INTEGER,
  webhooks TEXT, PRIMARY KEY (part, offset, entry)) WITHOUT ROWID;
/* Of each account with own entries, its last revision; null: its stream is hidden. */
CREATE TABLE accounts (account INTEGER PRIMARY KEY, revision INTEGER);
CREATE TABLE spans (account INTEGER, type TEXT, webhook INTEGER, since INTEGER, until REAL,
  PRIMARY KEY (account, type, webhook, since)) WITHOUT ROWID;
/* outcome, chain, attempts: of the fold; tier: its furthest open record; letter: its furthest dead letter. */
CREATE TABLE deliveries (part INTEGER, offset INTEGER, webhook INTEGER, listed INTEGER NOT NULL DEFAULT 0,
  demanded INTEGER NOT NULL DEFAULT 0, asked INTEGER NOT NULL DEFAULT 0, outcome TEXT, chain INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0, fold TEXT, tier TEXT, due INTEGER, tier_chain INTEGER, tier_attempts INTEGER,
  letter_chain INTEGER, letter_attempts INTEGER, PRIMARY KEY (part, offset, webhook)) WITHOUT ROWID;
CREATE TABLE events (account INTEGER, event TEXT, due INTEGER, PRIMARY KEY (account, event)) WITHOUT ROWID;

/* What became of each delivery. A retry record and a dead letter are published before the entry that reports them, so a
   reported one must exist; an earlier one belongs to an attempt or an end before. Without an entry, what is further came later. */
CREATE VIEW answers AS SELECT d.*, r.open, r.account, r.type, r.event, CASE
  WHEN outcome IN ('delivered', 'cancelled') THEN outcome
  WHEN outcome = 'exhausted' AND (letter_chain, letter_attempts) >= (chain, attempts) THEN outcome
  WHEN outcome IS NOT NULL AND (tier_chain, tier_attempts) >= (chain, attempts) THEN 'retrying'
  WHEN outcome IS NULL AND tier IS NOT NULL
    AND coalesce((tier_chain, tier_attempts) > (letter_chain, letter_attempts), 1) THEN 'retrying'
  WHEN outcome IS NULL AND letter_chain IS NOT NULL THEN 'exhausted'
  WHEN r.open THEN 'waiting' ELSE 'unanswered' END AS answer
FROM deliveries d JOIN records r USING (part, offset)
WHERE demanded OR outcome IS NOT NULL OR tier IS NOT NULL OR letter_chain IS NOT NULL;

/* Records and batches without evidence that they were done. */
CREATE VIEW unproven AS
SELECT part, offset, account, event, open, CASE kind WHEN 'invalid'
    THEN 'not a payment event, but missing from the dead letters'
    ELSE 'done, but no entry says where it was routed' END AS why
  FROM records r WHERE kind IN ('payment', 'invalid') AND NOT (buried AND (kind = 'invalid' OR NOT open))
    AND NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (r.part, r.offset))
UNION ALL
SELECT part, offset, NULL, NULL, open, 'its batch is unreadable, and missing from the dead letters'
  FROM batches WHERE NOT buried`;

export const NEXT_ACCOUNT = 'SELECT account FROM accounts WHERE account > ? ORDER BY account LIMIT 1';

/** Revisions that the store does not have, because it was restored, or that are hidden, are not its own. */
export const DISOWN = `UPDATE routed SET own = 0 WHERE own AND coalesce(confirmed > (SELECT a.revision FROM accounts a
  JOIN records r USING (account) WHERE (r.part, r.offset) = (routed.part, routed.offset)), 1)`;

/**
 * Listed: by an entry. Demanded, so that an answer must exist: listed by every entry of the record, or by one of another
 * store, or active at both revisions of one entry. A record may be handed out twice, and abandoned the first time after its
 * entry; it was done at least once, and then what all entries list was done.
 */
export const DEMANDED = `INSERT INTO deliveries (part, offset, webhook, listed, demanded)
SELECT e.part, e.offset, w.value, 1, NOT e.own OR NOT EXISTS (SELECT 1 FROM routed o
    WHERE (o.part, o.offset) = (e.part, e.offset) AND w.value NOT IN (SELECT value FROM json_each(o.webhooks)))
  FROM routed e, json_each(e.webhooks) w
UNION ALL
SELECT e.part, e.offset, s.webhook, 0, 1 FROM routed e JOIN records r USING (part, offset)
  JOIN spans s ON (s.account, s.type) = (r.account, r.type) AND s.since <= e.routed AND e.routed < s.until
  JOIN spans c ON (c.account, c.type, c.webhook) = (s.account, s.type, s.webhook)
    AND c.since <= e.confirmed AND e.confirmed < c.until
  WHERE e.own
ON CONFLICT DO UPDATE SET listed = max(listed, excluded.listed), demanded = max(demanded, excluded.demanded)`;

/**
 * To a webhook that was never due: active at no revision of an entry that lists it. What no entry lists was sent by a request
 * (asked), or when the record was handed out and abandoned before its entry: at a revision that is unknown, but not after the
 * last entry's. While the record is open that entry may be still to come.
 */
const IS_UNEXPECTED = `EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (d.part, d.offset))
  AND NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (d.part, d.offset) AND NOT own)
  AND CASE WHEN listed THEN NOT EXISTS (SELECT 1 FROM routed e JOIN spans s
      ON s.since <= e.routed AND e.routed < s.until OR s.since <= e.confirmed AND e.confirmed < s.until
      WHERE (e.part, e.offset) = (d.part, d.offset) AND (s.account, s.type, s.webhook) = (d.account, d.type, d.webhook))
    ELSE NOT asked AND NOT open AND NOT EXISTS (SELECT 1 FROM spans s
      WHERE (s.account, s.type, s.webhook) = (d.account, d.type, d.webhook) AND s.since <=
        (SELECT max(confirmed) FROM routed WHERE (part, offset) = (d.part, d.offset))) END`;

const IN_ORDER = 'ORDER BY part, offset, webhook';
export const RETRYING = `SELECT * FROM answers WHERE answer = 'retrying' ${IN_ORDER}`;
export const UNEXPECTED = `SELECT * FROM answers d WHERE ${IS_UNEXPECTED} ${IN_ORDER}`;
export const UNANSWERED = `SELECT *, CASE outcome WHEN 'exhausted' THEN 'exhausted, but missing from the dead letters'
  WHEN 'retrying' THEN 'to be retried, but in no retry tier' ELSE 'no record of the delivery' END AS why
  FROM answers WHERE answer = 'unanswered' ${IN_ORDER}`;
export const UNPROVEN = 'SELECT * FROM unproven WHERE NOT open';
export const WAITING = `SELECT (SELECT count(*) FROM answers WHERE answer = 'waiting')
  + (SELECT count(*) FROM unproven WHERE open) + (SELECT count(*) FROM records WHERE kind = 'held') AS count`;
export const HELD = `SELECT part, min(offset) AS offset, count(*) AS records FROM records WHERE kind = 'held' GROUP BY part`;

export const ANSWERS = `SELECT answer, CASE answer WHEN 'retrying' THEN tier END AS tier, count(*) AS count
  FROM answers GROUP BY 1, 2`;
export const RECORDS = `SELECT count(kind) AS records, count(*) FILTER (WHERE kind = 'invalid') AS invalid,
  (SELECT count(*) FROM batches) AS unreadable FROM records`;
/** An event may have several records: it is not due where each is known to have no delivery. */
export const EVENTS = `INSERT INTO events SELECT account, event,
    NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (r.part, r.offset))
    OR EXISTS (SELECT 1 FROM answers WHERE (part, offset) = (r.part, r.offset))
  FROM records r WHERE kind = 'payment' ON CONFLICT DO UPDATE SET due = max(due, excluded.due)`;
export const EVENT_COUNTS = 'SELECT count(*) AS events, count(*) FILTER (WHERE NOT due) AS notDue FROM events';

/** Whether an answer depends on the tiers; on the dead letters it may depend too where a record or batch is unproven. */
export const NEEDS_TIERS = `SELECT 1 FROM deliveries WHERE NOT coalesce(outcome IN ('delivered', 'cancelled')
  OR outcome = 'exhausted' AND (letter_chain, letter_attempts) >= (chain, attempts), 0) LIMIT 1`;
export const NEEDS_LETTERS = `SELECT 1 FROM records r WHERE kind = 'invalid' OR kind = 'payment' AND NOT open
  AND NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (r.part, r.offset))
  UNION ALL SELECT 1 FROM batches LIMIT 1`;
