/** Audits that each overlook one thing, for the property of histories to detect: they see topics and store changed by that. */
import type { CompletenessParts } from '../../src/audit/reading.js';
import { progressHeader, progressIn } from '../../src/delivery/delivery-progress.js';
import { readLogRecord, toLogRecord } from '../../src/delivery/log/log-record.js';
import { partitionText, readPaymentText } from '../../src/delivery/record-place.js';
import type { Extent, ReceivedRecord } from '../../src/ports/broker.js';
import type { Outcome } from '../../src/ports/delivery-order.js';
import { TOPICS } from './audit-fixture.js';

type Seen = (parts: CompletenessParts) => CompletenessParts;
type Change = (record: ReceivedRecord) => readonly ReceivedRecord[];

const isPayment = ({ topic }: ReceivedRecord) => TOPICS.payments.includes(topic);
const hasTime = ({ timestamp }: Pick<ReceivedRecord, 'timestamp'>) => timestamp >= 0 && Number.isSafeInteger(timestamp);

export const DEFECTS: Readonly<Record<string, Seen>> = {
  'takes what is before the first routed entry of a partition for earlier': (parts) => ({
    ...parts,
    async *records(topic, options) {
      const first = await firstRouted(parts);
      for await (const record of parts.records(topic, options)) {
        if (!isPayment(record) || record.offset >= (first.get(partitionText(record)) ?? 0)) yield record;
      }
    },
  }),
  'takes for done what was removed': (parts) => ({
    ...parts,
    broker: {
      ...parts.broker,
      async extent(topic) {
        const extent = await parts.broker.extent(topic);
        if (!TOPICS.payments.includes(topic)) return extent;
        return new Map([...extent].map(([partition, { next }]) => [partition, { first: 0, next }]));
      },
    },
  }),
  'reads nothing of topics that PAYMENT_TOPICS lacks': (parts) =>
    changed((record) => {
      const named = readLogRecord(record).routed.flatMap(({ payment }) => readPaymentText(payment) ?? []);
      return named.some(({ topic }) => !parts.topics.payments.includes(topic)) ? [] : [record];
    })(parts),
  'compares revisions from before a restore with the restored store': (parts) => ({
    ...parts,
    store: {
      async *read(stream) {
        for await (const event of parts.store.read(stream)) {
          yield event;
          if (stream === 'store-identity') return;
        }
      },
    },
  }),
  'drops the entry of a record whose timestamp is no time': changed((record) => {
    const { store, routed } = readLogRecord(record);
    if (routed.length === 0) return [record];
    const timed = routed.filter(({ payment }) => hasTime({ timestamp: readPaymentText(payment)?.at ?? -1 }));
    return [{ ...record, ...toLogRecord({ store, routed: timed }) }];
  }),
  'takes a record that was superseded for the one that waits': changed((record) => {
    const progress = TOPICS.isTier(record.topic) ? progressIn(record) : null;
    return progress ? [{ ...record, headers: [progressHeader({ ...progress, chain: 99 })] }] : [record];
  }),
  'does not read the requests': changed((record) => (record.topic === TOPICS.requests ? [] : [record])),
  'takes a request for done that waits': (parts) => ({
    ...parts,
    broker: {
      ...parts.broker,
      committed: async (group, topic) =>
        topic === TOPICS.requests ? nextOf(await parts.broker.extent(topic)) : parts.broker.committed(group, topic),
    },
  }),
  'does not know what was given up before a cancellation': changed((record) => {
    const { store, deliveries } = readLogRecord(record);
    const left = deliveries.filter(({ outcome, chain }) => outcome !== 'exhausted' || chain > 0);
    return left.length === deliveries.length ? [record] : [{ ...record, ...toLogRecord({ store, deliveries: left }) }];
  }),
  'overlooks cancellations': changed(withoutOutcome('cancelled')),
  'overlooks that a delivery was sent again or recovered': changed(withoutOutcome('retrying')),
  'counts a record whose timestamp is no time in no period': changed((record) =>
    isPayment(record) && !hasTime(record) ? [] : [record],
  ),
};

function nextOf(extents: ReadonlyMap<number, Extent>): ReadonlyMap<number, number> {
  return new Map([...extents].map(([partition, { next }]) => [partition, next]));
}

function withoutOutcome(overlooked: Outcome): Change {
  return (record) => {
    const { store, deliveries } = readLogRecord(record);
    const left = deliveries.filter(({ outcome }) => outcome !== overlooked);
    return left.length === deliveries.length ? [record] : [{ ...record, ...toLogRecord({ store, deliveries: left }) }];
  };
}

function changed(change: Change): Seen {
  return (parts) => ({
    ...parts,
    async *records(topic, options) {
      for await (const record of parts.records(topic, options)) yield* change(record);
    },
  });
}

async function firstRouted({ records, topics }: CompletenessParts): Promise<ReadonlyMap<string, number>> {
  const first = new Map<string, number>();
  for await (const record of records(topics.deliveries)) {
    for (const place of readLogRecord(record).routed.flatMap(({ payment }) => readPaymentText(payment) ?? [])) {
      const { offset } = place;
      const partition = partitionText(place);
      first.set(partition, Math.min(offset, first.get(partition) ?? offset));
    }
  }
  return first;
}
