/** The state of each payment event of an embedded installation, read from the topics while the service is stopped. */
import { RecordLog } from '../../src/adapters/sqlite/record-log.js';
import type { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { headerText } from '../../src/ports/broker.js';

const GROUP = 'account-webhooks';
const DELIVERIES = 'webhooks.deliveries';
const TIERS = 'webhooks.retry.';
const PAGE = 1_000;

export interface PaymentsInTopics {
  /** Events that have ended, wait in a tier, or are still unconsumed, according to the records that are not done. */
  readonly events: ReadonlySet<string>;
  /** Number of records ever published to each topic. */
  readonly published: Readonly<Record<string, number>>;
}

export function paymentsInTopics(file: StoreFile, payments: string): PaymentsInTopics {
  const log = new RecordLog(file);
  const events = new Set<string>();
  const tiers = log.topics().filter((topic) => topic.startsWith(TIERS));
  const waiting = tiers.flatMap((topic) => [...records(log, topic, log.committed(`${GROUP}.retry`, topic) ?? 0)]);
  for (const record of waiting) events.add(headerText(record, 'aw-event-id') ?? '');
  for (const record of records(log, payments, log.committed(GROUP, payments) ?? 0)) events.add(jsonOf(record).id);
  for (const record of records(log, DELIVERIES, 0)) {
    const { eventId, outcome } = jsonOf(record);
    if (outcome !== 'retrying') events.add(eventId);
  }
  return { events, published: Object.fromEntries(log.topics().map((topic) => [topic, log.end(topic)])) };
}

function* records(log: RecordLog, topic: string, from: number): Iterable<ReceivedRecord> {
  for (let next = from; ; ) {
    const { page, atEnd, next: behind } = log.page(topic, next, PAGE);
    for (const record of page) if ('offset' in record) yield record;
    if (atEnd) return;
    next = behind;
  }
}

function jsonOf({ value }: ReceivedRecord): { id: string; eventId: string; outcome: string } {
  return JSON.parse(String(value));
}
