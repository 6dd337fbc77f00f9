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
import type { Extent } from '../ports/broker.js';
import { accountStream } from '../webhooks/events.js';
import { Histories } from './active-webhooks.js';
import { Ledger } from './ledger.js';
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
import { Starts } from './starts.js';

/** @throws BrokerUnavailable, StoreUnavailable */
export async function auditCompleteness(parts: CompletenessParts, period: Period): Promise<Report> {
  const reading = await begin(parts, period);
  for (const topic of reading.payments.values()) await readPayments(reading, topic);
  const entries = new ReadTopic(parts.topics.deliveries);
  await readEntries(reading, entries);
  await readRequests(reading);
  const others = await readOthers(reading);
  const report = new Report(reading.ledger, reading.histories);
  // Their gaps don't matter if nothing is missing.
  const isMissing = report.counts().unanswered > 0;
  report.lost.push(...(await lostOf(reading, isMissing ? [entries, ...others] : [entries])));
  report.lost.push(...(await lostRecords(reading, reading.requests, isMissing ? period.from : null)));
  return report;
}

/** What is removed from a topic before its extent is known is before the committed offset, or was never done. */
async function begin(parts: CompletenessParts, period: Period): Promise<Reading> {
  const { broker, topics } = parts;
  const consumed = async (name: string) => new ConsumedTopic(name, await broker.extent(name));
  const payments = new Map<string, ConsumedTopic>();
  for (const name of topics.payments) payments.set(name, await consumed(name));
  const requests = await consumed(topics.requests);
  const committed = await Committed.of(parts);
  const histories = await Histories.of(parts.store);
  const found = { ledger: new Ledger(), starts: new Starts(), unlisted: new Map<string, boolean>() };
  return { ...parts, period, payments, requests, committed, histories, ...found };
}

/** Dead letters and tiers, if an answer depends on them. */
async function readOthers(reading: Reading): Promise<readonly ReadTopic[]> {
  const { broker, topics, ledger } = reading;
  const read: ReadTopic[] = [];
  const next = (name: string) => {
    const topic = new ReadTopic(name);
    read.push(topic);
    return topic;
  };
  if (ledger.needsLetters) await readDeadLetters(reading, next(topics.deadLetters));
  if (!ledger.needsTiers) return read;
  for (const name of await broker.listTopics()) if (topics.isTier(name)) await readTier(reading, next(name));
  return read;
}

/** Which topics do not, or may not, have all records of the period. @throws BrokerUnavailable */
async function lostOf(reading: Reading, evidence: readonly ReadTopic[]): Promise<readonly Lost[]> {
  const { broker, committed, histories, period, payments, starts, unlisted } = reading;
  const ofEvidence: Lost[] = [];
  for (const topic of evidence) {
    const extent = await broker.extent(topic.name);
    const found = topic.lost({ extent, committed: committed.of(topic.name) }, period.from);
    if (found) ofEvidence.push(found);
    else if (topic.name === reading.topics.deliveries) ofEvidence.push(...withoutStarts(reading, extent));
  }
  const lost: Lost[] = [...starts.lost];
  for (const [accountId, why] of histories.hidden) lost.push(hidden(accountId, why));
  const unnamedFrom = ofEvidence.some(({ topic }) => topic === reading.topics.deliveries) ? period.from : null;
  for (const topic of payments.values()) lost.push(...(await lostRecords(reading, topic, unnamedFrom)));
  for (const [topic, isOfPeriod] of unlisted) lost.push(...(await lostOfUnlisted(reading, topic, isOfPeriod)));
  return [...lost, ...ofEvidence];
}

async function lostRecords({ broker, committed }: Reading, topic: ConsumedTopic, unnamedFrom: number | null) {
  return topic.lost({ extent: await broker.extent(topic.name), committed: committed.of(topic.name) }, unnamedFrom);
}

function hidden(accountId: number, why: string): Lost {
  const topic = accountStream(accountId);
  return { kind: 'lost', topic, why: `${why}: which webhooks of the account were active can not be judged` };
}

/** A start entry is durable before its partition's committed offset, and stays as long as the topic's first records. */
function withoutStarts({ committed, payments, starts, topics }: Reading, extent: ReadonlyMap<number, Extent>): Lost[] {
  if ([...extent.values()].some(({ first }) => first > 0)) return [];
  const partitions = [...payments.keys()].flatMap((topic) =>
    [...committed.of(topic).keys()].map((partition) => ({ topic, partition })),
  );
  const one = partitions.find((partition) => !starts.has(partition));
  if (!one) return [];
  const what = `the start of partition ${one.partition} of ${one.topic}`;
  const why = `it does not have ${what}: it was recreated, or the offset was set by hand`;
  return [{ kind: 'lost', topic: topics.deliveries, why }];
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
