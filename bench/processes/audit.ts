/**
 * An audit of so many deliveries, of payments to three webhooks each, out of topics that this process makes while they are
 * read: so its time holds the making, and no reading from a disk. One delivery in a thousand was retried, and given up.
 */
import { tmpdir } from 'node:os';
import { ScratchFile } from '../../src/adapters/sqlite/scratch-file.js';
import { auditCompleteness } from '../../src/audit/completeness.js';
import { deadLetterOf } from '../../src/delivery/dead-letters.js';
import { type Delivery, newDelivery } from '../../src/delivery/delivery.js';
import { logEntry, loggedAttempt } from '../../src/delivery/log/log-record.js';
import { paymentText, placeOf } from '../../src/delivery/record-place.js';
import { topicsOf } from '../../src/delivery/topics.js';
import type { NewRecord, ReceivedRecord } from '../../src/ports/broker.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import type { RoutedEntry } from '../../src/ports/log-entry.js';
import type { Scratch } from '../../src/ports/scratch.js';
import { DELIVERED, failedWith, named } from '../../test/support/generators/delivery-samples.js';
import { toLogRecord } from '../../test/support/generators/log-records.js';
import { added, registered } from '../../test/support/generators/webhook-samples.js';
import { answerParent } from '../support/child.js';

export interface Audited {
  readonly seconds: number;
  readonly peakMiB: number;
  readonly diskMiB: number;
}

const TOPICS = topicsOf(['payment-events'], '');
const [PAYMENTS] = TOPICS.payments;
const ACCOUNTS = 1_000;
const WEBHOOKS = [1, 2, 3];
const BEGIN = Date.UTC(2026, 10, 1);
const A_RECORD = 25;
const LAST = { chain: 0, attempts: 2 };

export const handlers = {
  audit: async (deliveries: number): Promise<Audited> => {
    const payments = Math.ceil(deliveries / WEBHOOKS.length);
    const opened: Scratch[] = [];
    const begun = performance.now();
    const report = await auditCompleteness(
      {
        topics: TOPICS,
        groups: { payments: 'group', retries: 'group.retry' },
        broker: {
          listTopics: async () => [],
          completedAhead: async () => new Map(),
          committed: async (_, topic) => new Map(topic === PAYMENTS ? [[0, payments]] : []),
          extent: async (topic) => new Map(topic === PAYMENTS ? [[0, { first: 0, next: payments }]] : []),
        },
        records: (topic) => recordsOf(topic, payments),
        store: { read: historyOf },
        scratch: (bytes) => {
          const scratch = ScratchFile.open(process.env.BENCH_FOLDER || tmpdir(), bytes);
          opened.push(scratch);
          return scratch;
        },
      },
      { from: 0, to: Number.MAX_SAFE_INTEGER, account: null },
    );
    const { counts, lost } = report;
    const ended = counts.delivered + counts.exhausted;
    if (ended !== payments * WEBHOOKS.length || counts.unexpected > 0 || lost.length > 0)
      throw new Error(JSON.stringify({ counts, lost }));
    const seconds = (performance.now() - begun) / 1_000;
    const pages = opened[0]?.row<{ page_count: number }>('PRAGMA page_count')?.page_count ?? 0;
    opened[0]?.close();
    return { seconds, peakMiB: process.resourceUsage().maxRSS / 1_024, diskMiB: (pages * 4_096) / 1024 ** 2 };
  },
};

async function* recordsOf(topic: string, payments: number): AsyncIterable<ReceivedRecord> {
  let offset = 0;
  const received = (record: NewRecord, at: number) => ({
    ...record,
    topic,
    partition: 0,
    offset: offset++,
    timestamp: at,
  });
  if (topic === PAYMENTS) for (let n = 0; n < payments; n += 1) yield paymentOf(n);
  if (topic === TOPICS.deliveries)
    for (let n = 0; n < payments; n += A_RECORD)
      yield received(entriesOf(n, Math.min(payments, n + A_RECORD)), BEGIN + n);
  if (topic === TOPICS.deadLetters)
    for (let n = 0; n < payments; n += 1)
      for (const delivery of deliveriesOf(n).filter(isGivenUp))
        yield received(
          deadLetterOf({ ...delivery, ...LAST }, { reason: 'exhausted', detail: 'status 503' }),
          BEGIN + n,
        );
}

function entriesOf(from: number, to: number): NewRecord {
  const routed: RoutedEntry[] = [];
  const deliveries = [];
  for (let n = from; n < to; n += 1) {
    const { id: eventId, type: eventType, accountId } = eventOf(n);
    const place = paymentText(placeOf(paymentOf(n)));
    routed.push({ payment: place, accountId, eventId, eventType, routed: 3, confirmed: 3, webhooks: webhooksOf(n) });
    for (const delivery of deliveriesOf(n)) {
      if (!isGivenUp(delivery))
        deliveries.push(logEntry({ ...delivery, attempts: 1 }, 'delivered', loggedAttempt(DELIVERED, 1), null));
      else
        for (const [outcome, attempts] of [
          ['retrying', 1],
          ['exhausted', 2],
        ] as const)
          deliveries.push(logEntry({ ...delivery, attempts }, outcome, loggedAttempt(failedWith(503), 1), BEGIN));
    }
  }
  return toLogRecord({ store: 'one', deliveries, routed });
}

function deliveriesOf(n: number): readonly Delivery[] {
  return webhooksOf(n).map((id) => newDelivery(eventOf(n), named(id), paymentOf(n)));
}

function isGivenUp({ webhookId, eventId }: Delivery): boolean {
  return webhookId % 3 === 0 && eventId.endsWith('042');
}

function webhooksOf(n: number): readonly number[] {
  return WEBHOOKS.map((id) => 3 * (n % ACCOUNTS) + id);
}

function eventOf(n: number) {
  return { id: `pay-${String(n).padStart(32, '0')}`, type: 'cash_in', accountId: 1 + (n % ACCOUNTS) } as const;
}

function paymentOf(n: number): ReceivedRecord {
  const value = Buffer.from(JSON.stringify({ ...eventOf(n), data: { amount: '10.00', endToEndId: `E${n}` } }));
  return { topic: PAYMENTS, partition: 0, offset: n, timestamp: BEGIN + n, key: null, value, headers: [] };
}

async function* historyOf(stream: string): AsyncIterable<RecordedEvent> {
  const about = { id: '', stream, position: '', metadata: {} };
  if (stream === 'store-identity')
    return yield { ...about, revision: 0, type: 'StoreIdentified', data: { identity: 'one' } };
  const account = Number(stream.slice('account-'.length));
  const events = [registered(account), ...webhooksOf(account - 1).map((id) => added(id))];
  for (const [revision, { type, data }] of events.entries()) yield { ...about, revision, type, data: { ...data } };
}

answerParent(handlers);
