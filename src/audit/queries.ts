/**
 * The audit as tables, and each of its rules (docs/audit.md) as one query.
 *
 * `part` numbers a topic's partition; with `offset` it names a payment record.
 */
export const SCHEMA = `
/* A partition that was read: its offsets from before the committed ones were asked for (null: of a topic of evidence), those
   from after it was read, and its oldest record then. paid: of payments. */
CREATE TABLE parts (part INTEGER PRIMARY KEY, topic TEXT, partition INTEGER, paid INTEGER, first INTEGER, stable INTEGER,
  next INTEGER, committed INTEGER NOT NULL DEFAULT 0, oldest INTEGER, oldest_at INTEGER, first_after INTEGER NOT NULL DEFAULT 0,
  after INTEGER NOT NULL DEFAULT 0);
/* Every record that the payment topics have. kind: payment, invalid or held (by a transaction); null: not of the audit. Also
   each unreadable batch, of any time, at its first offset, with its digest as the event: kind batch. */
CREATE TABLE records (part INTEGER, offset INTEGER, at INTEGER, kind TEXT, open INTEGER, account INTEGER, type TEXT,
  event TEXT, buried INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (part, offset)) WITHOUT ROWID;
/* Entries of audited records; a doubled entry is two. own: of the audited store's revisions. */
CREATE TABLE routed (part INTEGER, offset INTEGER, own INTEGER, routed INTEGER, confirmed INTEGER, webhooks TEXT);
CREATE INDEX routed_by_place ON routed (part, offset);
/* Places that entries (with the record's time) and dead letters name where no such record was read. due: of the period. */
CREATE TABLE names (part INTEGER, offset INTEGER, written INTEGER, at INTEGER, due INTEGER);
CREATE INDEX names_by_place ON names (part, offset, written);
/* Of each account with own entries, its last revision; null: its stream is hidden. */
CREATE TABLE accounts (account INTEGER PRIMARY KEY, revision INTEGER);
CREATE TABLE spans (account INTEGER, type TEXT, webhook INTEGER, since INTEGER, until REAL,
  PRIMARY KEY (account, type, webhook, since)) WITHOUT ROWID;
/* outcome, chain, attempts: of the fold; tier: its furthest open record; letter: its furthest dead letter; done: the group of
   its payment is done with it, although perhaps not with the whole record. */
CREATE TABLE deliveries (part INTEGER, offset INTEGER, webhook INTEGER, listed INTEGER DEFAULT 0,
  demanded INTEGER DEFAULT 0, asked INTEGER DEFAULT 0, outcome TEXT, chain INTEGER DEFAULT 0,
  attempts INTEGER DEFAULT 0, fold TEXT, tier TEXT, due INTEGER, tier_chain INTEGER, tier_attempts INTEGER,
  letter_chain INTEGER, letter_attempts INTEGER, done INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (part, offset, webhook)) WITHOUT ROWID;
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
  WHEN r.open AND NOT d.done THEN 'waiting' ELSE 'unanswered' END AS answer
FROM deliveries d JOIN records r USING (part, offset)
WHERE demanded OR outcome IS NOT NULL OR tier IS NOT NULL OR letter_chain IS NOT NULL;
/* Records and batches without evidence that they were done. */
CREATE VIEW unproven AS SELECT part, offset, account, event, open, kind, CASE kind
    WHEN 'invalid' THEN 'not a payment event, but missing from the dead letters'
    WHEN 'batch' THEN 'its batch is unreadable, and missing from the dead letters'
    ELSE 'done, but no entry says where it was routed' END AS why
  FROM records r WHERE kind <> 'held' AND NOT (buried AND (kind <> 'payment' OR NOT open))
    AND NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (r.part, r.offset));
/* Partitions whose first records are gone, and the time of the oldest that is left. */
CREATE VIEW cut AS SELECT topic, iif(oldest_at BETWEEN 0 AND 8.64e15, oldest_at, 9e999) AS since FROM parts
  WHERE min(coalesce(oldest, first_after), first_after) > 0 OR committed > after;
/* Where the offset before the first kept one is named by nothing, and is no hole as others are in the partition: those of
   transactions' markers. */
CREATE VIEW gaps AS SELECT part, topic, partition, named + 1 AS start, first, written FROM
  (SELECT *, coalesce((SELECT max(offset) FROM names n WHERE n.part = p.part AND n.offset < p.first), -1) AS named,
    (SELECT written FROM names n WHERE n.part = p.part AND n.offset < p.first ORDER BY n.offset DESC, written LIMIT 1) AS written
  FROM parts p WHERE paid) g
  WHERE named + 1 < first AND named + 1 + coalesce((SELECT max(hole) FROM
    (SELECT offset - lag(offset) OVER (ORDER BY offset) - 1 AS hole FROM records r WHERE r.part = g.part)), 0) < first`;

export const PART = `INSERT INTO parts (part, topic, partition, paid, first, stable, next, committed)
  VALUES ($part, $topic, $partition, $paid, $first, $stable, $next, $committed)`;
export const OLDEST = 'UPDATE parts SET oldest = $offset, oldest_at = $at WHERE part = $part';
export const AFTER = 'UPDATE parts SET first_after = $first, after = $next WHERE part = $part';
/** A record that was read before stays as it is. */
export const RECORD = `INSERT INTO records (part, offset, at, kind, open, account, type, event)
  VALUES ($part, $offset, $at, $kind, $open, $account, $type, $event) ON CONFLICT DO NOTHING`;
export const HELD_BACK = 'SELECT partition, stable, next FROM parts WHERE topic = $topic AND stable < next';
export const FOUND = 'SELECT at, account FROM records WHERE part = $part AND offset = $offset';
export const NAME = 'INSERT INTO names VALUES ($part, $offset, $written, $at, $due)';
export const ROUTED = 'INSERT INTO routed VALUES ($part, $offset, $own, $routed, $confirmed, $webhooks)';
export const ACCOUNT = 'INSERT INTO accounts VALUES ($account, $revision)';
export const SPAN = 'INSERT INTO spans VALUES ($account, $type, $webhook, $since, $until)';
/** A record's event, and what is known of its delivery. */
export const KNOWN = `SELECT r.event, d.outcome, d.fold FROM records r
  LEFT JOIN deliveries d ON (d.part, d.offset, d.webhook) = (r.part, r.offset, $webhook)
  WHERE r.part = $part AND r.offset = $offset AND r.at = $at AND r.account = $account`;
export const SAY = `INSERT INTO deliveries (part, offset, webhook, outcome, chain, attempts, fold, asked)
  VALUES ($part, $offset, $webhook, $outcome, $chain, $attempts, $fold, $asked) ON CONFLICT DO UPDATE SET
  outcome = excluded.outcome, chain = excluded.chain, attempts = excluded.attempts, fold = excluded.fold,
  asked = max(asked, excluded.asked)`;
const OF_DELIVERY = `WHERE part = $part AND offset = $offset AND webhook = $webhook AND EXISTS (SELECT 1 FROM records r
  WHERE r.part = $part AND r.offset = $offset AND r.at = $at AND r.account = $account)`;
/** A retry record or a request (tier `requests`) that its consumer is not done with: the furthest counts. */
export const TIERED = `UPDATE deliveries SET tier = $tier, due = $due, tier_chain = $chain, tier_attempts = $attempts
  ${OF_DELIVERY} AND coalesce(($chain, $attempts, $due) >= (tier_chain, tier_attempts, due), 1)`;
/** A dead letter of the delivery: the furthest counts. */
export const ENDED = `UPDATE deliveries SET letter_chain = $chain, letter_attempts = $attempts
  ${OF_DELIVERY} AND coalesce(($chain, $attempts) > (letter_chain, letter_attempts), 1)`;
/** Of the records up to $last there is a dead letter: also of payment events, if another release considered them invalid. */
export const BURIED = `UPDATE records SET buried = 1 WHERE part = $part AND offset BETWEEN $offset AND $last
  AND iif(kind = 'batch', event = $digest, at = coalesce($at, at))`;

/** Revisions that the store does not have, because it was restored, or that are hidden, are not its own. */
export const DISOWN = `UPDATE routed SET own = 0 WHERE own AND coalesce(confirmed > (SELECT a.revision FROM accounts a
  JOIN records r USING (account) WHERE (r.part, r.offset) = (routed.part, routed.offset)), 1)`;

const IN_CHUNK = 'e.rowid >= $first AND e.rowid < $first + 50000';
export const LAST_ENTRY = 'SELECT max(rowid) AS last FROM routed';
/**
 * Listed: by an entry. Demanded, so that an answer must exist: listed by every entry of the record, or by one of another
 * store, or active at both revisions of one entry. A record may be handed out twice, and abandoned the first time after its
 * entry; it was done at least once, and then what all entries list was done.
 * Of the entries from $first on, 50,000 at a time: SQLite keeps the pages that a statement changes in memory until it ends.
 */
export const DEMANDED = `INSERT INTO deliveries (part, offset, webhook, listed, demanded)
SELECT e.part, e.offset, w.value, 1, NOT e.own OR NOT EXISTS (SELECT 1 FROM routed o
    WHERE (o.part, o.offset) = (e.part, e.offset) AND w.value NOT IN (SELECT value FROM json_each(o.webhooks)))
  FROM routed e, json_each(e.webhooks) w WHERE ${IN_CHUNK}
UNION ALL SELECT e.part, e.offset, s.webhook, 0, 1 FROM routed e JOIN records r USING (part, offset)
  JOIN spans s ON (s.account, s.type) = (r.account, r.type) AND s.since <= e.routed AND e.routed < s.until
  JOIN spans c ON (c.account, c.type, c.webhook) = (s.account, s.type, s.webhook)
    AND c.since <= e.confirmed AND e.confirmed < c.until
  WHERE e.own AND ${IN_CHUNK}
ON CONFLICT DO UPDATE SET listed = max(listed, excluded.listed), demanded = max(demanded, excluded.demanded)`;
/** A delivery is a part of its payment's record. */
export const DONE = 'UPDATE deliveries SET done = 1 WHERE part = $part AND offset = $offset AND webhook = $webhook';

/**
 * To a webhook that was never due: active at no revision of an entry that lists it. What no entry lists was sent by a request
 * (asked), or when the record was handed out and abandoned before its entry: at a revision that is unknown, but not after the
 * last entry's. While the record is open that entry may be still to come.
 */
export const UNEXPECTED = `SELECT part, offset, account, webhook, event FROM answers d
  WHERE EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (d.part, d.offset))
  AND NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (d.part, d.offset) AND NOT own)
  AND CASE WHEN listed THEN NOT EXISTS (SELECT 1 FROM routed e JOIN spans s
      ON s.since <= e.routed AND e.routed < s.until OR s.since <= e.confirmed AND e.confirmed < s.until
      WHERE (e.part, e.offset) = (d.part, d.offset) AND (s.account, s.type, s.webhook) = (d.account, d.type, d.webhook))
    ELSE NOT asked AND NOT open AND NOT EXISTS (SELECT 1 FROM spans s
      WHERE (s.account, s.type, s.webhook) = (d.account, d.type, d.webhook) AND s.since <=
        (SELECT max(confirmed) FROM routed WHERE (part, offset) = (d.part, d.offset))) END
  ORDER BY part, offset, webhook`;

/** Waits in a tier, or was requested. A foreign record may contain any time: the last one that a Date has. */
export const WAITING = `SELECT part, offset, account, webhook, event, tier, min(due, 8640000000000000) AS due
  FROM answers WHERE answer = 'retrying' ORDER BY part, offset, webhook`;
export const UNANSWERED = `SELECT part, offset, account, NULL AS webhook, iif(kind = 'batch', NULL, event) AS event, why
  FROM unproven WHERE NOT open
UNION ALL SELECT part, offset, account, webhook, event, CASE outcome
    WHEN 'exhausted' THEN 'exhausted, but missing from the dead letters'
    WHEN 'retrying' THEN 'to be retried, but in no retry tier' ELSE 'no record of the delivery' END
  FROM answers WHERE answer = 'unanswered'`;
export const HELD = `SELECT 'held' AS kind, topic, partition, min(offset) AS offset, count(*) AS records
  FROM records JOIN parts USING (part) WHERE kind = 'held' GROUP BY part`;
/** An event may have several records: it is not due where each is known to have no delivery. */
export const EVENTS = `INSERT INTO events SELECT account, event,
    NOT EXISTS (SELECT 1 FROM routed WHERE (part, offset) = (r.part, r.offset))
    OR EXISTS (SELECT 1 FROM answers WHERE (part, offset) = (r.part, r.offset))
  FROM records r WHERE kind = 'payment' ON CONFLICT DO UPDATE SET due = max(due, excluded.due)`;
const ANSWERED = ['delivered', 'exhausted', 'cancelled', 'waiting', 'unanswered']
  .map((answer) => `, count(*) FILTER (WHERE answer = '${answer}') AS ${answer}`)
  .join('');
export const COUNTS = `SELECT r.records, events, invalid, unreadable, notDue, deliveries, delivered, exhausted, cancelled, retrying,
  waiting + open + held AS waiting, unanswered + done AS unanswered, (SELECT count(*) FROM (${UNEXPECTED})) AS unexpected
FROM (SELECT count(*) AS deliveries${ANSWERED} FROM answers),
  (SELECT count(*) FILTER (WHERE kind <> 'batch') AS records, count(*) FILTER (WHERE kind = 'invalid') AS invalid,
    count(*) FILTER (WHERE kind = 'batch') AS unreadable, count(*) FILTER (WHERE kind = 'held') AS held FROM records) r,
  (SELECT count(*) AS events, count(*) FILTER (WHERE NOT due) AS notDue FROM events),
  (SELECT count(*) FILTER (WHERE open) AS open, count(*) FILTER (WHERE NOT open) AS done FROM unproven),
  (SELECT json_group_object(tier, count) AS retrying
    FROM (SELECT tier, count(*) AS count FROM answers WHERE answer = 'retrying' GROUP BY tier))`;

/**
 * Of a topic that a group gets done, what was lost. Removed before it was done: behind the committed offset, or a gap, where
 * the log ($log) reaches back to the entry that names the offset before; else that of the next one may have expired.
 * Recreated: an entry names a record with another time than the one at its offset, or the topic ends before it, or before the
 * group. Gone: named as of the period; a later offset may have been published since.
 */
export const LOST = `SELECT 'lost' AS kind, $topic AS topic,
    format('offsets %d to %d of partition %d were removed before they were done', start, first - 1, partition) AS why
  FROM (SELECT partition, committed AS start, first FROM parts WHERE topic = $topic AND committed < first
    UNION ALL SELECT partition, start, first FROM gaps g JOIN parts p USING (part, topic, partition, first)
      WHERE topic = $topic AND committed >= first
      AND NOT EXISTS (SELECT 1 FROM cut WHERE topic = $log AND since > coalesce(written, -9e999)))
UNION ALL SELECT 'lost', $topic, 'it was recreated or truncated' WHERE EXISTS (SELECT 1 FROM parts p WHERE topic = $topic
  AND (committed > after OR EXISTS (SELECT 1 FROM names n LEFT JOIN records r USING (part, offset)
    WHERE n.part = p.part AND (n.offset >= after OR n.at <> iif(kind = 'batch', n.at, r.at)))))
UNION ALL SELECT 'lost', $topic, 'entries name records of the period that it does not have'
  WHERE EXISTS (SELECT 1 FROM names JOIN parts USING (part) WHERE topic = $topic AND due AND offset < stable)`;
/** Of a topic that may lack records since $from: before which time. */
export const DELETED = `SELECT 'lost' AS kind, $topic AS topic, 'records were deleted: ' || coalesce('from before ' ||
  strftime('%Y-%m-%dT%H:%M:%fZ', nullif(max(since), 9e999) / 1000.0, 'unixepoch'), 'some or all of them') AS why
  FROM cut WHERE topic = $topic AND since > $from HAVING count(*) > 0`;
