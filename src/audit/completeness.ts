/**
 * What became of every payment event of a period: read from the topics and the event store alone, so that it needs no
 * service and can be asked anywhere. The order of reading is that of what is written: who asks while the service runs
 * finds in each topic at least what belongs to what was read before.
 */
import { readDeadLetter } from '../delivery/dead-letters.js';
import { type DeliveryLogEntry, readLogEntry } from '../delivery/delivery-log.js';
import type { Topics } from '../delivery/topics.js';
import type { Broker, BrowseOptions, ReceivedRecord } from '../ports/broker.js';
import { OUTCOMES, type Outcome } from '../ports/delivery-order.js';
import type { EventStore } from '../ports/event-store.js';
import { Ledger } from './ledger.js';
import { OpenDeliveries } from './open-deliveries.js';
import { CompleteSince, createPaymentReader, type Period } from './period-payments.js';
import { Report } from './report.js';

export interface CompletenessParts {
  readonly broker: Pick<Broker, 'browse' | 'listTopics'>;
  readonly store: Pick<EventStore, 'read'>;
  readonly topics: Topics;
  /** For each record that was read. */
  readonly progress: (topic: string) => void;
  /** Of a topic that may have lost records of the period to its retention: those before that time. */
  readonly mayLack: (topic: string, before: number) => void;
}

const KNOWN: ReadonlySet<Outcome> = new Set(OUTCOMES);

/** @throws BrokerUnavailable, StoreUnavailable */
export async function auditCompleteness(parts: CompletenessParts, period: Period): Promise<Report> {
  const ledger = new Ledger();
  await readPayments(parts, period, ledger);
  await readEntries(parts, period, ledger);
  const open = new OpenDeliveries(ledger.deliveries());
  if (open.mayWait) await readTiers(parts, open);
  if (open.size > 0 || ledger.mayHaveLetters) await readDeadLetters(parts, ledger, open);
  return new Report(ledger, open);
}

async function readPayments(parts: CompletenessParts, period: Period, ledger: Ledger): Promise<void> {
  const read = createPaymentReader(parts.store, period, ledger);
  for (const topic of new Set(parts.topics.payments)) {
    const since = new CompleteSince();
    const saw = (record: ReceivedRecord) => {
      since.saw(record);
      return read(record);
    };
    await each(parts, topic, saw, { onUnreadable: (batch) => ledger.unreadable(batch) });
    if (since.time > period.from) parts.mayLack(topic, since.time);
  }
}

/** By its size the embedded broker may lose entries of payments that it kept because they were not done. */
async function readEntries(parts: CompletenessParts, period: Period, ledger: Ledger): Promise<void> {
  const { deliveries } = parts.topics;
  const since = new CompleteSince();
  await each(parts, deliveries, (record) => {
    since.saw(record);
    const entry = readLogEntry(record);
    if (entry && isEntry(entry)) ledger.logged(entry, record);
  });
  if (since.time > period.from) parts.mayLack(deliveries, since.time);
}

async function readTiers(parts: CompletenessParts, open: OpenDeliveries): Promise<void> {
  const { broker, topics } = parts;
  const nameless = topics.tier({ text: '', ms: 0 });
  for (const topic of (await broker.listTopics()).filter((name) => topics.isTier(name))) {
    const tier = topic.slice(nameless.length);
    await each(parts, topic, (record) => open.waits(record, tier));
  }
}

function readDeadLetters(parts: CompletenessParts, ledger: Ledger, open: OpenDeliveries): Promise<void> {
  return each(parts, parts.topics.deadLetters, (record) => {
    const { reason, source, digest } = readDeadLetter(record);
    if (reason === 'not-valid' && source !== null) ledger.buried(source);
    if (reason === 'unreadable' && source !== null && digest !== null) ledger.steppedOver(source, digest);
    open.buried(record);
  });
}

async function each(
  { broker, progress }: CompletenessParts,
  topic: string,
  read: (record: ReceivedRecord) => Promise<void> | void,
  options?: BrowseOptions,
): Promise<void> {
  for await (const record of broker.browse(topic, options)) {
    progress(topic);
    await read(record);
  }
}

/** Whether what somebody put into the topic has what is asked of it. */
function isEntry({ webhookId, outcome, nextAttemptAt }: DeliveryLogEntry): boolean {
  const isTime = nextAttemptAt === null || typeof nextAttemptAt === 'string';
  return Number.isSafeInteger(webhookId) && KNOWN.has(outcome) && isTime;
}
