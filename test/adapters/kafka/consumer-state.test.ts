import { KafkaConsumer } from '../../../src/adapters/kafka/consumer.js';
import type { TopicAdmin } from '../../../src/adapters/kafka/topic-admin.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import { eventually } from '../../support/eventually.js';
import { FakeKafkaClient } from '../../support/servers/fake-kafka-client.js';
import { silentLogger } from '../../support/silent-logger.js';

let client: FakeKafkaClient;
let consumer: KafkaConsumer;
/** Ends the records that are with the handler, in their order. */
let ends: (() => void)[];

beforeEach(async () => {
  client = new FakeKafkaClient();
  ends = [];
  const groupStart = async (_: string, topics: readonly string[]) =>
    new Map(topics.map((topic) => [topic, new Map([[0, { offset: 5, committed: 5 }]])]));
  const admin = { groupStart } as unknown as TopicAdmin;
  const parts = { kafka: client.kafka, admin, sessionTimeoutMs: 6_000, logger: silentLogger };
  const handler = () => new Promise<void>((resolve) => void ends.push(resolve));
  const notBefore = ({ offset }: ReceivedRecord) => (offset < 7 ? 0 : Date.now() + 3_600_000);
  consumer = new KafkaConsumer(parts, { topics: ['t'], group: 'g', inFlight: 10, handler, notBefore });
  await consumer.start();
});

afterEach(async () => {
  for (const end of ends) end();
  await consumer.close();
});

it('is connected from its first join on, and not after a crash', async () => {
  expect(consumer.state()).toEqual({ connected: false, inHand: 0, inHandBytes: 0, partitions: [] });
  await client.join({ t: [0] });
  expect(consumer.state().connected).toBe(true);
  await client.emit('CRASH', { error: new Error('Kafka is away'), restart: true });
  expect(consumer.state().connected).toBe(false);
});

it('tells how far it is behind, what it holds, and what is to come next', async () => {
  await client.join({ t: [0] });
  await eventually(() => client.calls.includes('seek t 5'));
  expect(consumer.state().partitions).toEqual([{ topic: 't', partition: 0, behind: 0, head: null, unreadable: null }]);
  await client.fetched('t', 5, 9, 25);
  await eventually(() => ends.length === 2);
  const head = { publishedAt: 0, overdueMs: 0 };
  expect(consumer.state()).toEqual({
    connected: true,
    inHand: 2,
    inHandBytes: 2,
    partitions: [{ topic: 't', partition: 0, behind: 20, head, unreadable: null }],
  });
  ends[1]?.();
  ends[0]?.();
  await eventually(() => consumer.state().inHand === 0);
  expect(consumer.state().partitions).toEqual([{ topic: 't', partition: 0, behind: 18, head, unreadable: null }]);
});

it('updates its lag with each fetch, even one without records', async () => {
  await client.join({ t: [0] });
  await eventually(() => client.calls.includes('seek t 5'));
  const partition = { topic: 't', partition: 0, head: null, unreadable: null };
  await client.fetchedEnd('t', 25);
  expect(consumer.state().partitions).toEqual([{ ...partition, behind: 20 }]);
  // Of a partition that can't be fetched.
  await client.fetchedEnd('t', -1);
  expect(consumer.state().partitions).toEqual([{ ...partition, behind: 20 }]);
});
