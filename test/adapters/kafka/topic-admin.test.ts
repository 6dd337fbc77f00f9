import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Kafka } from 'kafkajs';
import { TopicAdmin, type TopicSettings } from '../../../src/adapters/kafka/topic-admin.js';
import { BrokerRefused, BrokerUnavailable } from '../../../src/ports/broker.js';
import { kafkaSettings } from '../../support/scenes/kafka-subjects.js';
import { recordingLogger } from '../../support/scenes/recording-logger.js';

/** Takes connections: an admin looks first whether anybody listens. */
let listener: Server;
let asked: number;
let made: string[];
let committed: string;
let logger: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  asked = 0;
  made = [];
  committed = '4';
  logger = recordingLogger();
  listener = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(listener, 'listening');
});

afterEach(() => new Promise((resolve) => listener.close(resolve)));

const OFFSETS = [{ partition: 0, offset: '7', low: '2', high: '7' }];

/** Its broker refuses to tell of offsets as long as there are refusals. */
function adminAt(refusals: string[], existing = ['topic']): TopicAdmin {
  const client = {
    listTopics: async () => existing,
    createTopics: async () => made.push('topic'),
    fetchTopicMetadata: async () => ({ topics: [] }),
    describeConfigs: async () => ({ resources: [] }),
    fetchOffsets: async () => [{ topic: 'topic', partitions: [{ partition: 0, offset: committed }] }],
    fetchTopicOffsets: async () => {
      asked += 1;
      const type = refusals.shift();
      if (type) throw Object.assign(new Error(type), { type });
      return OFFSETS;
    },
  };
  return adminOf(client);
}

function adminOf(client: object, changes: Partial<TopicSettings> = {}): TopicAdmin {
  const { port } = listener.address() as AddressInfo;
  const settings = { ...kafkaSettings(`127.0.0.1:${port}`), isOwn: () => true, ...changes };
  const connection = { connect: async () => undefined, disconnect: async () => undefined };
  return new TopicAdmin({ admin: () => ({ ...connection, ...client }) } as unknown as Kafka, settings, logger);
}

/** Of a Kafka that has the topic. */
const EXISTING = {
  listTopics: async () => ['own'],
  fetchTopicOffsets: async () => OFFSETS,
  fetchTopicMetadata: async () => ({ topics: [] }),
};

it.each([
  [
    'POLICY_VIOLATION',
    BrokerRefused,
    "Kafka's policy forbids own as the service needs it (POLICY_VIOLATION): create it",
  ],
  ['INVALID_CONFIG', BrokerRefused, "Kafka's policy forbids own as the service needs it (INVALID_CONFIG): create it"],
  ['INVALID_REPLICATION_FACTOR', BrokerUnavailable, 'INVALID_REPLICATION_FACTOR'],
])('a topic whose creation fails with %s: names the code, and whether a retry helps', async (type, kind, says) => {
  const error = Object.assign(new Error(type), { type });
  const refusal = adminOf({
    listTopics: async () => [],
    createTopics: () => Promise.reject(Object.assign(new Error('creation'), { errors: [error] })),
  }).ensure(['own']);
  await expect(refusal).rejects.toThrow(kind);
  await expect(refusal).rejects.toThrow(says);
});

it('refuses a start without DescribeConfigs, and names the permission', async () => {
  const denied = Object.assign(new Error('denied'), { type: 'TOPIC_AUTHORIZATION_FAILED' });
  const refusal = adminOf({
    ...EXISTING,
    describeConfigs: () => Promise.reject(denied),
  }).ensure(['own']);
  await expect(refusal).rejects.toThrow(BrokerRefused);
  await expect(refusal).rejects.toThrow('Kafka denies DescribeConfigs on own');
});

it.each([
  [{}, 'own needs message.timestamp.type=LogAppendTime: set it'],
  [
    { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '1000', 'cleanup.policy': 'compact,delete' },
    'own needs cleanup.policy=delete and max.message.bytes=1048576: set it',
  ],
])('refuses an own topic that loses or refuses records, with what it needs: %j', async (entries, says) => {
  const configEntries = Object.entries(entries).map(([configName, configValue]) => ({ configName, configValue }));
  const describeConfigs = async () => ({ resources: [{ resourceName: 'own', configEntries }] });
  const refusal = adminOf({ ...EXISTING, describeConfigs }).ensure(['own']);
  await expect(refusal).rejects.toThrow(BrokerRefused);
  await expect(refusal).rejects.toThrow(says);
});

describe('a topic whose offsets are numbers', () => {
  const ordered = (client: object) => adminOf(client, { isOrdered: () => true, partitions: 3 });

  it('is made with one partition, whatever KAFKA_PARTITIONS says', async () => {
    const topics: { readonly numPartitions: number }[] = [];
    const createTopics = async (of: { topics: typeof topics }) => void topics.push(...of.topics);
    await ordered({ ...EXISTING, listTopics: async () => [], createTopics }).ensure(['own']);
    expect(topics).toMatchObject([{ topic: 'own', numPartitions: 1 }]);
  });

  const partitioned = (count: number) => ({
    ...EXISTING,
    fetchTopicMetadata: async () => ({ topics: [{ name: 'own', partitions: Array.from({ length: count }) }] }),
    describeConfigs: async () => ({ resources: [] }),
  });

  it('is refused with more, with their count and the way out', async () => {
    const refusal = ordered(partitioned(3)).ensure(['own']);
    await expect(refusal).rejects.toThrow(BrokerRefused);
    await expect(refusal).rejects.toThrow(
      /^own has 3 partitions and must have one, .*: stop the service, delete the topic/,
    );
  });
});

const NOT_YET = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION'];

it.each(NOT_YET)('asks again where a group stands while a topic is young: %s', async (type) => {
  const starts = await adminAt([type, type]).groupStart('group', ['topic']);
  expect(starts).toEqual(new Map([['topic', new Map([[0, { offset: 4, committed: 4 }]])]]));
  expect(asked).toBe(3);
});

it.each([
  ['-1', { offset: 2, committed: null }],
  ['1', { offset: 2, committed: 1 }],
  ['8', { offset: 2, committed: 8 }],
  ['7', { offset: 7, committed: 7 }],
])('begins at the oldest record where the log has no committed offset (%s), which it keeps', async (offset, start) => {
  committed = offset;
  const starts = await adminAt([]).groupStart('group', ['topic']);
  expect(starts.get('topic')?.get(0)).toEqual(start);
});

it('has made a topic once each of its partitions is led: a send before that would be stored twice by some', async () => {
  await adminAt(['NOT_LEADER_FOR_PARTITION', 'LEADER_NOT_AVAILABLE'], []).ensure(['topic']);
  expect([made, asked]).toEqual([['topic'], 3]);
});
