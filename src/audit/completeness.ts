/**
 * The result of every payment record of a period: a join of the topics' evidence, without the service and without a clock.
 *
 * It may run beside the service. A record moves on by being published elsewhere first and committed as done last: a payment
 * record is done once its `routed` entry and the consequences of each of its deliveries are durable; a retry record, once
 * the next one or the end is; a dead letter and a retry record are durable before the entry that reports them. So the audit
 * reads against that order: first the groups' committed offsets, then payments, then entries and requests, then dead letters and
 * tiers. Only what payment and requests topics retain is asked before: retention follows the committed offsets.
 * - Records done before the committed offsets have their entries before the entries are read.
 * - Whatever an entry reports (a dead letter, a retry record) is in its topic before that topic is read. The retry record is
 *   at or after the committed offset, or it was done by then: then its result is among the entries too, or, if it was only
 *   deferred again, which leaves no entry, there is another retry record of the same attempt, to which the same applies.
 * - A record that ended because a later chain of its delivery began was done after that chain's request was published, which is
 *   an entry, and a waiting record itself.
 * - A request that was done has left an entry, a retry record or a later request: what retention removed of them is not missed.
 *   They are rare, so their topic is not called lost because its oldest record is young.
 * - All other records are at or after those offsets, and wait.
 */
import { type EventStore, StreamHidden } from '../ports/event-store.js';
import { loadProjection } from '../read-model/projection-source.js';
import { readIdentity } from '../read-model/store-identity.js';
import { accountStream } from '../webhooks/events.js';
import { activeSpans } from './active-webhooks.js';
import { DEMANDED, DISOWN, NEEDS_LETTERS, NEEDS_TIERS, NEXT_ACCOUNT } from './queries.js';
import { ConsumedTopic, type Lost, ReadTopic } from './read-topic.js';
import {
  Committed,
  type CompletenessParts,
  type Period,
  type Reading,
  readDeadLetters,
  readEntries,
  readPayments,
  readRequests,
  readTier,
} from './reading.js';
import { Report } from './report.js';
import { AuditTables } from './tables.js';

/** @throws BrokerUnavailable, StoreUnavailable, ScratchUnusable */
export async function auditCompleteness(parts: CompletenessParts, period: Period): Promise<Report> {
  const reading = await begin(parts, period);
  for (const topic of reading.payments.values()) await readPayments(reading, topic);
  const entries = new ReadTopic(parts.topics.deliveries);
  await readEntries(reading, entries);
  await readRequests(reading);
  const hidden = await readHistories(parts.store, reading.tables);
  reading.tables.scratch.run(DISOWN);
  reading.tables.scratch.run(DEMANDED);
  const others = await readOthers(reading);
  const report = new Report(reading.tables);
  // Their gaps don't matter if nothing is missing.
  const isMissing = report.counts.unanswered > 0;
  report.lost.push(...(await lostPayments(reading, entries, period.from)), ...hidden);
  for (const topic of isMissing ? [entries, ...others] : [entries]) {
    const found = topic.lost(await boundsOf(reading, topic.name), period.from);
    if (found) report.lost.push(found);
  }
  const ofRequests = await boundsOf(reading, reading.requests.name);
  report.lost.push(...reading.requests.lostRecords(ofRequests, isMissing ? period.from : null));
  return report;
}

/** What is removed from a topic before its extent is known is before the committed offset, or was never done. */
async function begin(parts: CompletenessParts, period: Period): Promise<Reading> {
  const { broker, topics, store, scratch } = parts;
  const consumed = async (name: string) => new ConsumedTopic(name, await broker.extent(name));
  const payments = new Map<string, ConsumedTopic>();
  for (const name of topics.payments) payments.set(name, await consumed(name));
  const requests = await consumed(topics.requests);
  const committed = await Committed.of(parts);
  const identity = await readIdentity(store);
  const tables = new AuditTables(scratch);
  return { ...parts, period, payments, requests, committed, identity, tables, unlisted: new Map() };
}

/** Of all accounts with entries, after these: so they reach as far. @returns the accounts that can't be judged */
async function readHistories(store: Pick<EventStore, 'read'>, tables: AuditTables): Promise<readonly Lost[]> {
  const projection = loadProjection('account-webhooks');
  const lost: Lost[] = [];
  let last = Number.NEGATIVE_INFINITY;
  const next = () => tables.scratch.row<{ account: number }>(NEXT_ACCOUNT, last);
  for (let found = next(); found; found = next()) {
    last = found.account;
    const topic = accountStream(last);
    try {
      tables.history(last, await activeSpans(store.read(topic), projection));
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      const why = `${error.why}: which webhooks of the account were active can not be judged`;
      lost.push({ kind: 'lost', topic, why });
    }
  }
  return lost;
}

/** Dead letters and tiers, if an answer depends on them. */
async function readOthers(reading: Reading): Promise<readonly ReadTopic[]> {
  const { broker, topics, tables, payments } = reading;
  const read: ReadTopic[] = [];
  const next = (name: string) => {
    const topic = new ReadTopic(name);
    read.push(topic);
    return topic;
  };
  const needs = (query: string) => tables.scratch.row(query) !== undefined;
  const hasGap = [...payments.values()].some((topic) => topic.hasGap);
  if (hasGap || needs(NEEDS_LETTERS) || needs(NEEDS_TIERS)) await readDeadLetters(reading, next(topics.deadLetters));
  if (!needs(NEEDS_TIERS)) return read;
  for (const name of await broker.listTopics()) if (topics.isTier(name)) await readTier(reading, next(name));
  return read;
}

/** Which payment topics do not, or may not, have all records of the period. @throws BrokerUnavailable */
async function lostPayments(reading: Reading, entries: ReadTopic, from: number): Promise<readonly Lost[]> {
  const ofEntries = await boundsOf(reading, entries.name);
  const unnamedFrom = entries.lost(ofEntries, from) ? from : null;
  const hasEntriesSince = (at: number) => entries.lost(ofEntries, at) === null;
  const lost: Lost[] = [];
  for (const topic of reading.payments.values())
    lost.push(...topic.lostRecords(await boundsOf(reading, topic.name), unnamedFrom, hasEntriesSince));
  for (const [topic, isOfPeriod] of reading.unlisted) lost.push(...(await lostOfUnlisted(reading, topic, isOfPeriod)));
  return lost;
}

async function boundsOf({ broker, committed }: Reading, topic: string) {
  return { extent: await broker.extent(topic), committed: committed.of(topic) };
}

/** Of a topic that PAYMENT_TOPICS lacks: no dispatcher reads it any more. */
async function lostOfUnlisted({ broker, groups }: Reading, topic: string, isOfPeriod: boolean): Promise<Lost[]> {
  const extent = await broker.extent(topic);
  const committed = await broker.committed(groups.payments, topic);
  const left = [...extent].reduce((sum, [at, { next }]) => sum + Math.max(0, next - (committed.get(at) ?? 0)), 0);
  const lost = (why: string): Lost[] => [{ kind: 'lost', topic, why: `PAYMENT_TOPICS lacks it, and it ${why}` }];
  if (extent.size === 0) return lost('does not exist any more');
  if (left > 0) return lost(`has ${left} offsets that were not done`);
  return isOfPeriod ? lost('has records of the period') : [];
}
