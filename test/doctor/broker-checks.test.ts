import type { InspectedTopic, Inspection } from '../../src/adapters/kafka/inspection.js';
import { logEntry } from '../../src/delivery/log/log-record.js';
import { brokerCheck } from '../../src/doctor/broker-checks.js';
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { readConfig } from '../../src/settings/read-config.js';
import { deliveryTo } from '../support/generators/delivery-samples.js';

const TIER = 'webhooks.retry.5s';
const PAYMENTS = 'payment-events';
const REQUESTS = 'webhooks.requests';
const HOUR_MS = 3_600_000;

const sound = (name: string): InspectedTopic => ({
  ...{ name, partitions: name === REQUESTS ? 1 : 12, replicas: 3, leaderless: 0, underReplicated: 0 },
  ...{
    retentionMs: null,
    isCompacted: false,
    isStampedByBroker: true,
    maxMessageBytes: 1_048_588,
    minInsyncReplicas: 2,
  },
});

const NOW = Date.parse('2026-11-29T10:00:00.000Z');
const AS_NEEDED = { brokers: 3, unledGroups: [], foreign: [], unreadTiers: [], blocked: [], newest: [] };

async function findings(
  topic: string,
  changes: Partial<InspectedTopic>,
  more: Partial<Inspection> = {},
): Promise<string[]> {
  const config = readConfig({ BROKER_URL: 'kafka://127.0.0.1:9092', MASTER_KEY: Buffer.alloc(32).toString('base64') });
  const inspect = async ({ topics }: { topics: readonly string[] }) => ({
    ...AS_NEEDED,
    ...more,
    topics: topics.map((name) => ({ ...sound(name), ...(name === topic && changes) })),
  });
  const found = await brokerCheck(config, inspect, () => NOW).run();
  return found.flatMap(({ verdict, says, todo }) => (verdict === 'ok' ? [] : [`${verdict} ${says}: ${todo}`]));
}

test.each<[string, Partial<InspectedTopic>, string[]]>([
  [TIER, {}, []],
  [PAYMENTS, { isStampedByBroker: false }, []],
  [
    PAYMENTS,
    { maxMessageBytes: 100_000 },
    [`warn ${PAYMENTS} has max.message.bytes=100000: it may refuse large events: raise it to 1048576 or more`],
  ],
  [TIER, { isCompacted: true }, [`FAIL ${TIER} is compacted: deliveries that wait, or their proofs, are removed: `]],
  [
    PAYMENTS,
    { isCompacted: true },
    [`FAIL ${PAYMENTS} is compacted: of an account's payments only the last is kept: `],
  ],
  [TIER, { isStampedByBroker: false }, [`FAIL ${TIER} has message.timestamp.type=CreateTime: `]],
  [TIER, { maxMessageBytes: 1_048_575 }, [`FAIL ${TIER} has max.message.bytes=1048575: it may refuse large events: `]],
  [TIER, { minInsyncReplicas: 1 }, [`warn ${TIER} has 3 replicas and min.insync.replicas=1: `]],
  [PAYMENTS, { minInsyncReplicas: 1 }, [`warn ${PAYMENTS} has 3 replicas and min.insync.replicas=1: `]],
  [TIER, { minInsyncReplicas: 1, replicas: 1 }, []],
  [TIER, { partitions: 1 }, [`warn ${TIER} has 1 partitions, fewer than KAFKA_PARTITIONS (12): add partitions to it`]],
  [TIER, { leaderless: 2 }, [`FAIL ${TIER}: 2 partitions have no leader: check the brokers`]],
  [TIER, { underReplicated: 2 }, [`warn ${TIER}: 2 partitions lack a replica: check the brokers`]],
  [PAYMENTS, { retentionMs: HOUR_MS }, [`FAIL ${PAYMENTS} keeps records for 1.0 h: waiting records are lost `]],
  [
    PAYMENTS,
    { retentionMs: 48 * HOUR_MS },
    [`warn ${PAYMENTS} keeps records for 48.0 h, less than KAFKA_RETENTION plus the longest retry delay: raise `],
  ],
  [REQUESTS, { partitions: 12 }, [`FAIL ${REQUESTS} has 12 partitions and must have one, whatever`]],
])('%s with %j is told with its remedy, where it has one', async (topic, changes, expected) => {
  expect(await findings(topic, changes)).toEqual(expected.map((text) => expect.stringContaining(text)));
});

const entryRecord = (attemptAt: string | null, storedAt: string, partition = 0): ReceivedRecord => {
  const delivery = logEntry(deliveryTo(1), 'delivered', null, null);
  const attempt = attemptAt && { at: attemptAt, status: 200, error: null, durationMs: 1, version: 1 };
  const value = Buffer.from(JSON.stringify({ store: 's', deliveries: [{ ...delivery, attempt }] }));
  const place = { topic: 'webhooks.deliveries', partition, offset: 0 };
  return { ...place, timestamp: Date.parse(storedAt), key: null, value, headers: [] };
};

test.each<[string, Partial<Inspection>, string[]]>([
  [
    'another application in a consumer group',
    { foreign: ['another application is in the consumer group g (billing at /10.0.0.7)'] },
    ['FAIL another application is in the consumer group g (billing at /10.0.0.7): give it a group.id of its own; '],
  ],
  [
    'a tier without a reader',
    { unreadTiers: [{ topic: 'webhooks.retry.7m', records: 3 }] },
    ['warn 3 records wait in webhooks.retry.7m, which no dispatcher reads: start a dispatcher; '],
  ],
  [
    'an open transaction in a payment topic',
    { blocked: [{ topic: PAYMENTS, partition: 2, offset: 12, records: 5 }] },
    [
      `warn partition 2 of ${PAYMENTS} blocks 5 records from offset 12 on, for an open transaction: if this lasts: kafka`,
    ],
  ],
  [
    'a service whose clock is ahead',
    {
      newest: [
        entryRecord('2026-11-29T09:59:59.000Z', '2026-11-29T09:59:59.100Z'),
        entryRecord('2026-11-29T11:59:00.000Z', '2026-11-29T09:59:00.000Z', 1),
      ],
    },
    [
      "warn the service's clock (2026-11-29T11:59:00.000Z) is 7200 s ahead of the brokers' clock (2026-11-29T09:59:00.000Z): sync",
    ],
  ],
  [
    'a service whose clock is behind',
    { newest: [entryRecord(null, '2026-11-29T10:30:00.000Z')] },
    [
      "warn the service's clock (2026-11-29T10:00:00.000Z) is 1800 s behind the brokers' clock (2026-11-29T10:30:00.000Z): ",
    ],
  ],
  ['clocks that agree', { newest: [entryRecord('2026-11-29T09:59:58.000Z', '2026-11-29T09:59:59.000Z')] }, []],
])('%s', async (_, more, expected) => {
  expect(await findings(TIER, {}, more)).toEqual(expected.map((text) => expect.stringContaining(text)));
});
