/**
 * What became of every payment record of a period: a join of what the topics say of it, with no service and no clock.
 *
 * It may be asked while the service runs. A record moves by being published elsewhere first and being remembered as done
 * last: a payment record is done once its `routed` entry and what follows from each of its deliveries are durable; a retry
 * record, once the next one or the end is; a dead letter and a retry record are durable before the entry that tells of them.
 * So the audit reads against that order: where the groups stand first, then payments, then entries, then dead letters and
 * tiers.
 * - What is done by the offsets that were read first has its entries before the entries are read.
 * - What an entry tells of (a dead letter, a retry record) is in its topic before that topic is read. The retry record
 *   stands at or after the offset that was read, or it was done by then: then what came of it is among the entries too, or,
 *   where it was only put off again, which leaves no entry, it is another retry record, of the same turn, of which the same
 *   holds.
 * - All else stands at or after those offsets, and waits.
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
  // What they lack says nothing where nothing is missing.
  const read = [...payments, entries, ...(report.counts().unanswered > 0 ? others : [])];
  report.lost.push(...(await lostOf(reading, read)));
  return report;
}

/** Dead letters and tiers, where an answer depends on them. */
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

/** The partitions with a record that is done and has no entry: it may be older than the first one. */
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
