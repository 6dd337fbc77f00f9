/** Topics and streams that hold what a test says, for audits: nothing here writes by itself. */

import { randomUUID } from 'node:crypto';
import { auditCompleteness, type CompletenessParts } from '../../src/audit/completeness.js';
import type { Period } from '../../src/audit/period-payments.js';
import type { Report } from '../../src/audit/report.js';
import { notValid } from '../../src/delivery/dead-letters.js';
import { type Delivery, newDelivery, toRetryRecord } from '../../src/delivery/delivery.js';
import { logEntry } from '../../src/delivery/delivery-log.js';
import type { PaymentEvent } from '../../src/delivery/payment-event.js';
import { topicsOf } from '../../src/delivery/topics.js';
import type { NewRecord, ReceivedRecord } from '../../src/ports/broker.js';
import type { Outcome } from '../../src/ports/delivery-order.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import { exhausted, ofOtherHistory } from './dead-letter-samples.js';
import { named } from './delivery-samples.js';

export interface Placed {
  /** When it was published, ms since the epoch; 0 without it. */
  readonly at?: number;
  readonly partition?: number;
  /** The next of the partition without it. */
  readonly offset?: number;
}

export const TOPICS = topicsOf(['payments', 'more-payments'], 'test.');
const LOG = TOPICS.deliveries;

export class AuditFixture {
  readonly #topics = new Map<string, ReceivedRecord[]>();
  readonly #streams = new Map<string, RecordedEvent[]>();
  /** The topics that were read, in order. */
  readonly browsed: string[] = [];
  readonly lacking: (readonly [topic: string, before: number])[] = [];
  /** How often an account's history was read. */
  historiesRead = 0;

  put(
    topic: string,
    { key, value, headers }: NewRecord,
    { at = 0, partition = 0, offset }: Placed = {},
  ): ReceivedRecord {
    const records = this.#topics.get(topic) ?? [];
    const next = records.filter((record) => record.partition === partition).length;
    const record = { topic, partition, offset: offset ?? next, timestamp: at, key, value, headers };
    this.#topics.set(topic, [...records, record]);
    return record;
  }

  /** A payment record; a text is its whole value. */
  published(payment: PaymentEvent | string, placed: Placed = {}, topic: string = TOPICS.payments[0]): ReceivedRecord {
    const text = typeof payment === 'string' ? payment : JSON.stringify(payment);
    const key = typeof payment === 'string' ? null : Buffer.from(String(payment.accountId));
    return this.put(topic, { key, value: Buffer.from(text), headers: [] }, placed);
  }

  logged(delivery: Delivery, outcome: Outcome, next: number | null = null, placed: Placed = {}): void {
    this.put(LOG, logEntry(delivery, outcome, null, next), placed);
  }

  waits(delivery: Delivery, tier: string, due: number): void {
    this.put(TOPICS.tier({ text: tier, ms: 0 }), toRetryRecord(delivery, due));
  }

  exhausted(delivery: Delivery, placed: Placed = {}): void {
    this.put(TOPICS.deadLetters, exhausted(delivery, 'status 503'), placed);
  }

  ofOtherHistory(delivery: Delivery, placed: Placed = {}): void {
    this.put(TOPICS.deadLetters, ofOtherHistory(delivery, 'another event'), placed);
  }

  notValid(record: ReceivedRecord): void {
    this.put(TOPICS.deadLetters, notValid(record, 'the record is not JSON'));
  }

  happened(accountId: number, ...events: readonly AccountEvent[]): void {
    const stream = accountStream(accountId);
    const before = this.#streams.get(stream) ?? [];
    const added = events.map(({ type, data }, index) => {
      const revision = before.length + index;
      return { id: randomUUID(), type, data: { ...data }, metadata: {}, stream, revision, position: '' };
    });
    this.#streams.set(stream, [...before, ...added]);
  }

  audit(period: Partial<Period> = {}): Promise<Report> {
    return auditCompleteness(this.#parts(), { from: 0, to: Number.MAX_SAFE_INTEGER, account: null, ...period });
  }

  #parts(): CompletenessParts {
    const [topics, streams, browsed] = [this.#topics, this.#streams, this.browsed];
    const countRead = () => {
      this.historiesRead += 1;
    };
    return {
      topics: TOPICS,
      progress: () => undefined,
      mayLack: (topic, before) => void this.lacking.push([topic, before]),
      broker: {
        async *browse(topic) {
          browsed.push(topic);
          yield* topics.get(topic) ?? [];
        },
        listTopics: async () => [...topics.keys()],
      },
      store: {
        async *read(stream) {
          countRead();
          yield* streams.get(stream) ?? [];
        },
      },
    };
  }
}

/** The delivery of a payment event to a webhook. */
export function delivery(event: PaymentEvent, webhookId: number): Delivery {
  const record = { key: null, value: Buffer.from(JSON.stringify(event)), headers: [] };
  return newDelivery(event, named(webhookId), record);
}
