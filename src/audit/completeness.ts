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
 * - All other records are at or after those offsets, and wait. Of these, the parts that were done (members of a bundle,
 *   deliveries of a payment) do not wait: the same applies to them as to records.
 */
import type { Extent } from '../ports/broker.js';
import { StreamHidden } from '../ports/event-store.js';
import { loadProjection } from '../read-model/projection-source.js';
import { readIdentity } from '../read-model/store-identity.js';
import { accountStream } from '../webhooks/events.js';
import { activeSpans } from './active-webhooks.js';
import { type Lost, lostOf, lostOfUnlisted } from './lost.js';
import * as queries from './queries.js';
import {
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

/** Of the tables, with deliveries to three webhooks: 305 measured, and more for long ids. */
const BYTES_A_RECORD = 450;

/** @throws BrokerUnavailable, StoreUnavailable, ScratchUnusable */
export async function auditCompleteness(parts: CompletenessParts, period: Period): Promise<Report> {
  const { broker, topics, store } = parts;
  const tables = await begin(parts);
  const accounts = new Set<number>();
  const reading = { ...parts, period, tables, identity: await readIdentity(store), accounts, unlisted: new Map() };
  for (const topic of new Set(topics.payments)) await readPayments(reading, topic);
  await readEntries(reading);
  await readRequests(reading);
  const hidden = await readHistories(reading);
  tables.scratch.run(queries.DISOWN);
  const { last } = tables.scratch.row<{ last: number }>(queries.LAST_ENTRY) ?? { last: 0 };
  for (let first = 1; first <= last; first += 50_000) tables.scratch.run(queries.DEMANDED, { first });
  tables.markDone();
  await readDeadLetters(reading);
  const tiers = (await broker.listTopics()).filter((topic) => topics.isTier(topic));
  for (const tier of tiers) await readTier(reading, tier);
  const evidence = [topics.deliveries, topics.deadLetters, ...tiers];
  for (const topic of new Set([...topics.payments, topics.requests, ...evidence]))
    tables.endsAt(topic, await broker.extent(topic));
  const report = new Report(tables.scratch);
  report.lost.push(...lostOf(reading, evidence, report.counts.unanswered > 0), ...hidden);
  report.lost.push(...(await lostOfUnlisted(parts, reading.unlisted)));
  return report;
}

/** Extents first: what was removed by then was done by the committed offsets, or never. */
async function begin({ broker, topics, groups, scratch }: CompletenessParts): Promise<AuditTables> {
  const payments = new Set(topics.payments);
  const extents = new Map<string, ReadonlyMap<number, Extent>>();
  for (const topic of [...payments, topics.requests]) extents.set(topic, await broker.extent(topic));
  const all = [...payments].flatMap((topic) => [...(extents.get(topic)?.values() ?? [])]);
  const records = all.reduce((sum, { first, next }) => sum + next - first, 0);
  const tables = new AuditTables(scratch(records * BYTES_A_RECORD));
  const tiers = (await broker.listTopics()).filter((topic) => topics.isTier(topic));
  for (const topic of [...payments, ...tiers, topics.requests]) {
    const paid = payments.has(topic);
    const group = paid ? groups.payments : groups.retries;
    const committed = await broker.committed(group, topic);
    // After it: what is committed in between counts as waiting.
    const ahead = await broker.completedAhead(group, topic);
    tables.begin(topic, paid, { committed, ahead }, extents.get(topic));
  }
  return tables;
}

/** Of all accounts with entries, after these: so they reach as far. @returns the accounts that can't be judged */
async function readHistories({ store, tables, accounts }: Reading): Promise<readonly Lost[]> {
  const projection = loadProjection('account-webhooks');
  const hidden: Lost[] = [];
  for (const account of accounts) {
    const topic = accountStream(account);
    try {
      const { spans, revision } = await activeSpans(store.read(topic), projection);
      tables.scratch.run(queries.ACCOUNT, { account, revision });
      for (const span of spans) tables.scratch.run(queries.SPAN, { account, ...span });
    } catch (error) {
      if (!(error instanceof StreamHidden)) throw error;
      const why = `${error.why}: which webhooks of the account were active can not be judged`;
      hidden.push({ kind: 'lost', topic, why });
    }
  }
  return hidden;
}
