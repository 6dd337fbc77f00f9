/**
 * The result of every payment record of a period: a join of the topics' evidence, without the service and without a clock.
 *
 * It may run beside the service. A record moves on by being published elsewhere first and committed as done last: a payment
 * record is done once its `routed` entry and the consequences of each of its deliveries are durable; a retry record, once
 * the next one or the end is; a dead letter and a retry record are durable before the entry that reports them. So the audit
 * reads against that order: first the groups' committed offsets, then payments, then entries, then dead letters and tiers.
 * - Records done before the committed offsets have their entries before the entries are read.
 * - Whatever an entry reports (a dead letter, a retry record) is in its topic before that topic is read. The retry record is
 *   at or after the committed offset, or it was done by then: then its result is among the entries too, or, if it was only
 *   parked again, which leaves no entry, there is another retry record with the same turn, to which the same applies.
 * - All other records are at or after those offsets, and wait.
 */

import { partitionText } from '../delivery/record-place.js';
import { Committed } from './committed.js';
import { Histories } from './histories.js';
import { Ledger } from './ledger.js';
import { type Lost, ReadTopic } from './read-topic.js';
import {
  type CompletenessParts,
  type Period,
  type Reading,
  readDeadLetters,
  readEntries,
  readPayments,
  readTier,
} from './reading.js';
import { Report } from './report.js';
import { RoutedSince } from './routed-since.js';

/** @throws BrokerUnavailable, StoreUnavailable */
export async function auditCompleteness(parts: CompletenessParts, period: Period): Promise<Report> {
  const { broker, topics } = parts;
  const committed = await Committed.of(parts);
  const histories = await Histories.of(parts.store);
  const reading = { ...parts, period, committed, histories, ledger: new Ledger(), since: new RoutedSince() };
  const payments: ReadTopic[] = [];
  for (const name of new Set(topics.payments)) {
    const topic = new ReadTopic(name, await broker.extent(name));
    await readPayments(reading, topic);
    payments.push(topic);
  }
  const entries = new ReadTopic(topics.deliveries);
  await readEntries(reading, entries, payments);
  await reading.since.check(broker, unrouted(reading));
  const others = await readOthers(reading);
  const report = new Report(reading);
  // Their gaps don't matter if nothing is missing.
  const read = [...payments, entries, ...(report.counts().unanswered > 0 ? others : [])];
  report.lost.push(...(await lostOf(reading, read)));
  return report;
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

/** The partitions with a record that is done but has no entry: it may be older than the first entry. */
function unrouted({ ledger }: Reading): ReadonlySet<string> {
  const partitions = new Set<string>();
  for (const { place, payment } of ledger.payments()) {
    if (!payment.isRouted && !payment.isOpen) partitions.add(partitionText(place));
  }
  for (const invalid of ledger.unburied) if (!invalid.isOpen) partitions.add(partitionText(invalid));
  return partitions;
}

async function lostOf({ broker, committed, period }: Reading, topics: readonly ReadTopic[]): Promise<Lost[]> {
  const lost: Lost[] = [];
  for (const topic of topics) {
    const extent = await broker.extent(topic.name);
    const found = topic.lost({ extent, committed: committed.of(topic.name) }, period.from);
    if (found) lost.push(found);
  }
  return lost;
}
