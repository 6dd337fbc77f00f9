/**
 * The result of every payment record of a period: a join of the topics' evidence, without the service and without a clock.
 *
 * It may run beside the service. A record moves on by being published elsewhere first and committed as done last: a payment
 * record is done once its `routed` entry and the consequences of each of its deliveries are durable; a retry record, once
 * the next one or the end is; a dead letter and a retry record are durable before the entry that reports them. So the audit
 * reads against that order: first the groups' committed offsets, then payments, then entries, then dead letters and tiers. Only
 * what the payment topics retain is asked before: retention follows the committed offsets.
 * - Records done before the committed offsets have their entries before the entries are read.
 * - Whatever an entry reports (a dead letter, a retry record) is in its topic before that topic is read. The retry record is
 *   at or after the committed offset, or it was done by then: then its result is among the entries too, or, if it was only
 *   parked again, which leaves no entry, there is another retry record with the same turn, to which the same applies.
 * - All other records are at or after those offsets, and wait.
 */

import { Histories } from './active-webhooks.js';
import { Ledger } from './ledger.js';
import { lostOf, Starts } from './losses.js';
import { Committed, PaymentTopic, ReadTopic } from './read-topic.js';
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

/** @throws BrokerUnavailable, StoreUnavailable */
export async function auditCompleteness(parts: CompletenessParts, period: Period): Promise<Report> {
  const reading = await begin(parts, period);
  for (const topic of reading.payments.values()) await readPayments(reading, topic);
  const entries = new ReadTopic(parts.topics.deliveries);
  await readEntries(reading, entries);
  const others = await readOthers(reading);
  const report = new Report(reading);
  // Their gaps don't matter if nothing is missing.
  const evidence = report.counts().unanswered > 0 ? [entries, ...others] : [entries];
  report.lost.push(...(await lostOf(reading, evidence)));
  return report;
}

/** What is removed from a topic before its extent is known is before the committed offset, or was never done. */
async function begin(parts: CompletenessParts, period: Period): Promise<Reading> {
  const payments = new Map<string, PaymentTopic>();
  for (const name of parts.topics.payments) payments.set(name, new PaymentTopic(name, await parts.broker.extent(name)));
  const committed = await Committed.of(parts);
  const histories = await Histories.of(parts.store);
  const found = { ledger: new Ledger(), starts: new Starts(), unlisted: new Map<string, boolean>() };
  return { ...parts, period, payments, committed, histories, ...found };
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
