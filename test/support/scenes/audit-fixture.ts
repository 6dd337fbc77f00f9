/** Topics and streams with the test's content, for audits: nothing here writes by itself. */
import { randomUUID } from 'node:crypto';
import { auditCompleteness } from '../../../src/audit/completeness.js';
import type { CompletenessParts, Period } from '../../../src/audit/reading.js';
import type { Report } from '../../../src/audit/report.js';
import { type Asked, toCancellation, toRequest } from '../../../src/delivery/again/request.js';
import { notValid } from '../../../src/delivery/dead-letters.js';
import { type Delivery, fromRetryRecord, newDelivery } from '../../../src/delivery/delivery.js';
import { logEntry } from '../../../src/delivery/log/log-record.js';
import { paymentText, placeOf } from '../../../src/delivery/record-place.js';
import { membersOf, withMembers } from '../../../src/delivery/retry/bundle.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import type { PaymentEvent } from '../../../src/payments/payment-event.js';
import type { CompletedAhead, Extent, NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import type { Outcome } from '../../../src/ports/delivery-order.js';
import { type RecordedEvent, StreamHidden } from '../../../src/ports/event-store.js';
import type { RoutedEntry } from '../../../src/ports/log-entry.js';
import type { TopicRecordsOptions } from '../../../src/ports/topic-records.js';
import { type AccountEvent, accountStream } from '../../../src/webhooks/events.js';
import { bundleOf } from '../generators/bundles.js';
import { exhausted } from '../generators/dead-letter-samples.js';
import { named } from '../generators/delivery-samples.js';
import { toLogRecord } from '../generators/log-records.js';
import { detail } from './recoverable-view.js';
import { scratchInMemory } from './scratch-in-memory.js';

export interface Placed {
  /** Publication time, ms since the epoch. Default: 0. */
  readonly at?: number;
  readonly partition?: number;
  /** Default: the partition's next offset. */
  readonly offset?: number;
}

export type Routing = Pick<RoutedEntry, 'routed' | 'confirmed' | 'webhooks'>;

interface DoneAhead {
  readonly records: Set<number>;
  readonly parts: Map<number, Set<number>>;
}

export const TOPICS = topicsOf(['payments', 'more-payments'], 'test.');
const STORE = 'the store';
const LOG = TOPICS.deliveries;
const GROUPS = { payments: 'group', retries: 'group.retry' };

export class AuditFixture {
  readonly #topics = new Map<string, ReceivedRecord[]>();
  readonly #next = new Map<string, Map<number, number>>();
  readonly #committed = new Map<string, Map<number, number>>();
  readonly #ahead = new Map<string, Map<number, DoneAhead>>();
  readonly #hidden = new Set<string>();
  readonly #streams = new Map<string, RecordedEvent[]>([['store-identity', [identified(STORE, 0)]]]);
  /** Called before a topic is read: for concurrent writes of a service. */
  beforeReading: (topic: string) => void = () => undefined;
  /** The offset from which an open transaction holds payments back. */
  heldFrom = Number.POSITIVE_INFINITY;
  /** Called before a topic's offsets are requested. */
  beforeAsking: () => void = () => undefined;

  put(
    topic: string,
    { key, value, headers }: NewRecord,
    { at = 0, partition = 0, offset }: Placed = {},
  ): ReceivedRecord {
    const next = this.#next.get(topic) ?? new Map<number, number>();
    this.#next.set(topic, next);
    const record = { topic, partition, offset: offset ?? next.get(partition) ?? 0, timestamp: at, key, value, headers };
    next.set(partition, Math.max(next.get(partition) ?? 0, record.offset + 1));
    this.#topics.set(topic, [...(this.#topics.get(topic) ?? []), record]);
    return record;
  }

  /** An empty partition. */
  begun(topic: string, partition: number): void {
    const next = this.#next.get(topic) ?? new Map<number, number>();
    this.#next.set(topic, next);
    if (!next.has(partition)) next.set(partition, 0);
  }

  /** A payment record; a string is its whole value. */
  published(payment: PaymentEvent | string, placed: Placed = {}, topic: string = TOPICS.payments[0]): ReceivedRecord {
    const text = typeof payment === 'string' ? payment : JSON.stringify(payment);
    const key = typeof payment === 'string' ? null : Buffer.from(String(payment.accountId));
    return this.put(topic, { key, value: Buffer.from(text), headers: [] }, placed);
  }

  /** A `routed` entry of one record. */
  routed(record: ReceivedRecord, accountId: number, by: Routing, store = STORE): ReceivedRecord {
    const event = { eventId: `at-${record.offset}`, eventType: 'cash_in' };
    const entry = { ...event, payment: paymentText(placeOf(record)), accountId, ...by };
    return this.put(LOG, toLogRecord({ store, routed: [entry] }), { at: record.timestamp });
  }

  logged(delivery: Delivery, outcome: Outcome, next: number | null = null, placed: Placed = {}): ReceivedRecord {
    return this.put(LOG, toLogRecord({ deliveries: [logEntry(delivery, outcome, null, next)] }), placed);
  }

  waits(delivery: Delivery, tier: string, due: number): ReceivedRecord {
    return this.waitTogether([delivery], tier, due);
  }

  /** In one record. */
  waitTogether(deliveries: readonly [Delivery, ...Delivery[]], tier: string, due: number): ReceivedRecord {
    return this.put(`test.webhooks.retry.${tier}`, bundleOf(deliveries, due));
  }

  /** It is sent again. */
  requested(
    delivery: Delivery,
    placed: Placed = {},
    asked: Asked = { trigger: 'resend', actor: 'ana' },
  ): ReceivedRecord {
    return this.put(TOPICS.requests, toRequest(delivery, asked), placed);
  }

  /** Its account cancels these publications of one event. */
  cancelled(publications: readonly [Delivery, ...Delivery[]], placed: Placed = {}): ReceivedRecord {
    const [first, ...others] = publications.map(({ cloudEvent, payment, ...about }) =>
      detail(1, { ...about, payment: payment ?? '', eventSource: cloudEvent?.source ?? null, attempts: [] }),
    );
    if (!first) throw new Error('there is one');
    return this.put(TOPICS.requests, toCancellation([first, ...others], 'ana'), placed);
  }

  deadLetter(letter: NewRecord, placed: Placed = {}): ReceivedRecord {
    return this.put(TOPICS.deadLetters, letter, placed);
  }

  exhausted(delivery: Delivery): ReceivedRecord {
    return this.deadLetter(exhausted(delivery, 'status 503'));
  }

  notValid(record: ReceivedRecord): ReceivedRecord {
    return this.deadLetter(notValid(record, 'the record is not JSON'));
  }

  /** Marks a record as done after the committed offset. */
  completeAhead(topic: string, offset: number, partition = 0): void {
    const { records, parts } = this.#aheadIn(topic, partition);
    records.add(offset);
    parts.delete(offset);
  }

  /** Marks a part of a record as done. */
  completePart(topic: string, offset: number, part: number, partition = 0): void {
    const { parts } = this.#aheadIn(topic, partition);
    parts.set(offset, (parts.get(offset) ?? new Set()).add(part));
  }

  #aheadIn(topic: string, partition: number): DoneAhead {
    const partitions = this.#ahead.get(topic) ?? new Map<number, DoneAhead>();
    const ahead = partitions.get(partition) ?? { records: new Set(), parts: new Map() };
    this.#ahead.set(topic, partitions.set(partition, ahead));
    return ahead;
  }

  /** Sets the group's committed offset. Without a call: all payments are done, and no retry record. */
  commit(topic: string, offset: number, partition = 0): void {
    const committed = this.#committed.get(topic) ?? new Map<number, number>();
    this.#committed.set(topic, committed.set(partition, offset));
  }

  /** Deletes the records before the offset, like retention or an operator. */
  cut(topic: string, offset = Number.POSITIVE_INFINITY, partition?: number): void {
    const isCut = (record: ReceivedRecord) =>
      record.offset < offset && record.partition === (partition ?? record.partition);
    this.drop(topic, isCut);
  }

  drop(topic: string, isLost: (record: ReceivedRecord) => boolean): void {
    this.#topics.set(
      topic,
      (this.#topics.get(topic) ?? []).filter((record) => !isLost(record)),
    );
  }

  /** The bundle is without such deliveries. @returns the record in its place */
  lose(bundle: ReceivedRecord, isLost: (delivery: Delivery) => boolean): ReceivedRecord {
    const isLeft = (member: NewRecord | null) => {
      const delivery = member && fromRetryRecord(member);
      return delivery !== null && !isLost(delivery);
    };
    const members = (membersOf(bundle) ?? []).map((member) => (isLeft(member) ? member : null));
    const without = withMembers(bundle, members);
    const records = this.#topics.get(bundle.topic) ?? [];
    this.#topics.set(
      bundle.topic,
      records.map((record) => (record === bundle ? without : record)),
    );
    return without;
  }

  /** Removes the topic with its records; its offsets restart. */
  remove(topic: string): void {
    for (const kept of [this.#topics, this.#next, this.#committed]) kept.delete(topic);
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

  /** Takes back the account's last events, as a restored backup does; `store accept` then began a new identity. */
  restored(accountId: number, lost: number): void {
    const stream = accountStream(accountId);
    this.#streams.set(stream, (this.#streams.get(stream) ?? []).slice(0, -lost));
    this.#streams.get('store-identity')?.push(identified('the restored store', 1));
  }

  /** An operator deleted the account's stream. */
  hides(accountId: number): void {
    this.#hidden.add(accountStream(accountId));
  }

  audit(
    period: Partial<Period> = {},
    seen: (parts: CompletenessParts) => CompletenessParts = (parts) => parts,
  ): Promise<Report> {
    return auditCompleteness(seen(this.#parts()), { from: 0, to: Number.MAX_SAFE_INTEGER, account: null, ...period });
  }

  #parts(): CompletenessParts {
    const [streams, hidden] = [this.#streams, this.#hidden];
    return {
      topics: TOPICS,
      groups: GROUPS,
      scratch: scratchInMemory,
      records: (topic, options) => this.#records(topic, options),
      broker: {
        listTopics: async () => [...this.#topics.keys()],
        committed: async (group, topic) => this.#committedBy(group, topic),
        completedAhead: async (_, topic) => this.#completedAhead(topic),
        extent: async (topic) => this.#extent(topic),
      },
      store: {
        async *read(stream) {
          if (hidden.has(stream)) throw new StreamHidden(stream, 'it was deleted');
          yield* streams.get(stream) ?? [];
        },
      },
    };
  }

  async *#records(topic: string, { ranges, uncommitted = false }: TopicRecordsOptions = {}) {
    this.beforeReading(topic);
    const { heldFrom } = this;
    for (const record of this.#topics.get(topic) ?? []) {
      const isAsked = !ranges || record.offset >= (ranges.get(record.partition)?.from ?? Number.POSITIVE_INFINITY);
      const isHeld = TOPICS.payments.includes(topic) && record.offset >= heldFrom;
      if (isAsked && (uncommitted || !isHeld)) yield record;
    }
  }

  #committedBy(group: string, topic: string): ReadonlyMap<number, number> {
    this.beforeAsking();
    const isRetried = TOPICS.isTier(topic) || topic === TOPICS.requests;
    if (group !== (isRetried ? GROUPS.retries : GROUPS.payments)) return new Map();
    const done = TOPICS.payments.includes(topic) ? this.#next.get(topic) : undefined;
    return new Map([...(done ?? []), ...(this.#committed.get(topic) ?? [])]);
  }

  /** Copies: what is done later does not change the response. */
  #completedAhead(topic: string): ReadonlyMap<number, CompletedAhead> {
    this.beforeAsking();
    const copies = [...(this.#ahead.get(topic) ?? [])].map(([partition, { records, parts }]) => {
      const committed = this.#committed.get(topic)?.get(partition) ?? 0;
      const isAhead = (offset: number) => offset >= committed;
      const open = [...parts]
        .filter(([offset]) => isAhead(offset))
        .map(([offset, done]) => [offset, new Set(done)] as const);
      return [partition, { records: new Set([...records].filter(isAhead)), parts: new Map(open) }] as const;
    });
    return new Map(copies);
  }

  #extent(topic: string): ReadonlyMap<number, Extent> {
    this.beforeAsking();
    const records = this.#topics.get(topic) ?? [];
    const extents = [...(this.#next.get(topic) ?? [])].map(([partition, next]) => {
      const offsets = records.filter((record) => record.partition === partition).map(({ offset }) => offset);
      const isHeld = TOPICS.payments.includes(topic) && this.heldFrom < next;
      const extent = { first: Math.min(next, ...offsets), next, ...(isHeld && { stable: this.heldFrom }) };
      return [partition, extent] as const;
    });
    return new Map(extents);
  }
}

function identified(identity: string, revision: number): RecordedEvent {
  const about = { id: randomUUID(), stream: 'store-identity', revision, position: '', metadata: {} };
  return { ...about, type: 'StoreIdentified', data: { identity } };
}

/** The delivery of a payment event to a webhook. Without a record: as another program wrote it, without the payment's place. */
export function delivery(event: PaymentEvent, webhookId: number, record?: ReceivedRecord): Delivery {
  const bare = { key: null, value: Buffer.from(JSON.stringify(event)), headers: [] };
  return newDelivery(event, named(webhookId), record ?? bare);
}
