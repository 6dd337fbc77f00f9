/** Another application in the consumer group: what it commits is never delivered, so it is named while it is there and after. */
import kafkajs, { type ConsumerConfig } from 'kafkajs';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { inspectKafka } from '../../../src/adapters/kafka/inspection.js';
import { subscribersAssigner } from '../../../src/adapters/kafka/kafkajs-repairs/subscribers-assigner.js';
import type { Consumer } from '../../../src/ports/broker.js';
import { unique } from '../../contract/contract.js';
import { startKafka } from '../../services/kafka/kafka-server.js';
import { eventually } from '../../support/eventually.js';
import { kafkaSettings, withKafka } from '../../support/kafka-subjects.js';
import { kafkaTool, withOwnKafka } from '../../support/own-kafka.js';
import { silentLogger } from '../../support/silent-logger.js';

const PATIENCE = { timeout: 40_000 };
const RECORDS = 30;

jest.setTimeout(300_000);

let closing: (() => unknown)[];
let topic: string;
let group: string;

beforeEach(() => {
  closing = [];
  topic = unique('topic');
  group = unique('group');
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
});

async function opened(brokers: string): Promise<KafkaBroker> {
  const broker = new KafkaBroker(kafkaSettings(brokers), silentLogger);
  closing.push(() => broker.close());
  await broker.ensureTopics([topic]);
  return broker;
}

const consume = (broker: KafkaBroker) =>
  broker.consume({ topics: [topic], group, inFlight: 10, handler: async () => undefined });

const foreign = (consumer: Consumer) => consumer.state().foreign ?? [];

const publish = (broker: KafkaBroker) =>
  broker.publish(
    topic,
    Array.from({ length: RECORDS }, (_, n) => ({ key: Buffer.from(`${n}`), value: Buffer.from('v'), headers: [] })),
  );

async function inspected(brokers: string): Promise<readonly string[]> {
  const of = { topics: [topic], groups: [group], laterThan: Date.now() };
  return (await inspectKafka(kafkaSettings(brokers), silentLogger, of)).foreign;
}

/** Joined when it returns. */
async function otherApplication(brokers: string, options: Partial<ConsumerConfig> = {}): Promise<kafkajs.Consumer> {
  const logLevel = kafkajs.logLevel.NOTHING;
  const client = new kafkajs.Kafka({ clientId: 'billing', brokers: brokers.split(','), logLevel });
  const consumer = client.consumer({ groupId: group, ...options });
  closing.push(() => consumer.disconnect());
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({ eachMessage: async () => undefined });
  await joined;
  return consumer;
}

withKafka((brokers) => {
  it('one with another protocol is named while it holds the group, which is joined once it has left', async () => {
    const broker = await opened(brokers);
    const other = await otherApplication(brokers);
    const consumer = await consume(broker);
    await eventually(() => foreign(consumer).length > 0, PATIENCE);
    expect(foreign(consumer)).toEqual([
      `another application is in the consumer group ${group} (by another protocol: INCONSISTENT_GROUP_PROTOCOL)`,
    ]);
    expect(await inspected(brokers)).toEqual([
      expect.stringMatching(`^another application is in the consumer group ${group} [(]billing at /`),
    ]);
    await other.disconnect();
    await eventually(() => consumer.state().connected && foreign(consumer).length === 0, PATIENCE);
  });

  it('one that joins by our protocol is named by its client', async () => {
    const consumer = await consume(await opened(brokers));
    await eventually(() => consumer.state().connected, PATIENCE);
    await otherApplication(brokers, { partitionAssigners: [subscribersAssigner(async () => [])] });
    await eventually(async () => (await inspected(brokers)).some((says) => says.includes('(billing at /')), PATIENCE);
  });

  it('one that committed while none of ours was there is named by its offsets; our own commits are not', async () => {
    const broker = await opened(brokers);
    const consumer = await consume(broker);
    await publish(broker);
    const done = async () => [...(await broker.committed(group, topic)).values()].reduce((sum, next) => sum + next, 0);
    await eventually(async () => (await done()) === RECORDS, PATIENCE);
    expect(await inspected(brokers)).toEqual([]);
    await consumer.close();
    const admin = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    closing.push(() => admin.disconnect());
    await admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 1, offset: '0' }] });
    const says = `the offset of the consumer group ${group} in ${topic}/1 was not committed by this service`;
    expect(await inspected(brokers)).toEqual([says]);
    const next = await consume(broker);
    await eventually(() => foreign(next).length > 0, PATIENCE);
    expect(foreign(next)).toEqual([says]);
  });
});

withOwnKafka(() => {
  it('a Java consumer that converts the group to the protocol of KIP-848 is named, and then what it committed', async () => {
    const { brokers, stop } = await startKafka();
    closing.push(stop);
    const at = ['--bootstrap-server', brokers];
    const upgrade = [...at, 'upgrade', '--feature', 'group.version=1'];
    await kafkaTool('org.apache.kafka.tools.FeatureCommand', { args: upgrade });
    const broker = await opened(brokers);
    const consumer = await consume(broker);
    await eventually(() => consumer.state().connected, PATIENCE);
    expect(foreign(consumer)).toEqual([]);
    const java = kafkaTool('org.apache.kafka.tools.consumer.ConsoleConsumer', {
      args: [
        ...[...at, '--topic', topic, '--group', group, '--max-messages', '1'],
        ...['--command-property', 'group.protocol=consumer'],
      ],
    });
    const joined = `another application is in the consumer group ${group} (by the protocol of KIP-848)`;
    await eventually(() => foreign(consumer).includes(joined), PATIENCE);
    await eventually(async () => (await inspected(brokers)).includes(joined), PATIENCE);
    await publish(broker);
    await java;
    await eventually(() => foreign(consumer).some((says) => says.endsWith('not committed by this service')), PATIENCE);
    expect(foreign(consumer)).not.toContain(joined);
  });
});
