import type { InspectedTopic } from '../../src/adapters/kafka/inspection.js';
import { brokerCheck } from '../../src/doctor/broker-checks.js';
import { readConfig } from '../../src/settings/read-config.js';

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

async function findings(topic: string, changes: Partial<InspectedTopic>): Promise<string[]> {
  const config = readConfig({ BROKER_URL: 'kafka://127.0.0.1:9092', MASTER_KEY: Buffer.alloc(32).toString('base64') });
  const inspect = async ({ topics }: { topics: readonly string[] }) => ({
    ...{ brokers: 3, unledGroups: [] },
    topics: topics.map((name) => ({ ...sound(name), ...(name === topic && changes) })),
  });
  const found = await brokerCheck(config, inspect).run();
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
