/** What doctor learns of a real Kafka: other applications in the groups, tiers without a reader, open transactions, clocks. */
import kafkajs, { type ConsumerConfig } from 'kafkajs';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { type Inspection, inspectKafka } from '../../../src/adapters/kafka/inspection.js';
import { subscribersAssigner } from '../../../src/adapters/kafka/kafkajs-repairs/subscribers-assigner.js';
import type { Consumer } from '../../../src/ports/broker.js';
import { unique } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';

const PATIENCE = { timeout: 40_000 };

withKafka((brokers) => {
  const other = new kafkajs.Kafka({
    ...{ clientId: 'billing', brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING },
  });
  let closing: (() => unknown)[];
  let topic: string;
  let group: string;
  let broker: KafkaBroker;

  beforeEach(async () => {
    closing = [];
    [topic, group] = [unique('topic'), unique('group')];
    broker = new KafkaBroker(kafkaSettings(brokers), silentLogger);
    closing.push(() => broker.close());
    await broker.ensureTopics([topic]);
  });
  afterEach(async () => {
    for (const close of closing.reverse()) await close();
  });

  const consume = () =>
    broker.consume({ topics: [topic], group, inFlight: 10, accept: () => ({ handle: async () => undefined }) });
  const foreign = (consumer: Consumer) => consumer.state().foreign ?? [];
  const inspect = (tier = ''): Promise<Inspection> =>
    inspectKafka(kafkaSettings(brokers), silentLogger, {
      ...{ topics: [topic], groups: [group], transactional: [topic], stamped: topic },
      tiers: { group, isTier: (name) => name === tier },
    });

  /** Joined when it returns. */
  async function startBilling(options: Partial<ConsumerConfig> = {}): Promise<kafkajs.Consumer> {
    const consumer = other.consumer({ groupId: group, ...options });
    closing.push(() => consumer.disconnect());
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({ eachMessage: async () => undefined });
    await joined;
    return consumer;
  }

  describe('another application in a consumer group', () => {
    it('is named while it holds the group with another protocol; once it has left, the group is joined', async () => {
      const billing = await startBilling();
      const consumer = await consume();
      await eventually(() => foreign(consumer).length > 0, PATIENCE);
      expect(foreign(consumer)).toEqual([
        `another application is in the consumer group ${group} (by another protocol: INCONSISTENT_GROUP_PROTOCOL)`,
      ]);
      expect((await inspect()).foreign).toEqual([
        expect.stringMatching(`^another application is in the consumer group ${group} [(]billing at /`),
      ]);
      await billing.disconnect();
      await eventually(() => consumer.state().connected && foreign(consumer).length === 0, PATIENCE);
      expect((await inspect()).foreign).toEqual([]);
    });

    it('is named by its client if it joined with the protocol of the service', async () => {
      const consumer = await consume();
      await eventually(() => consumer.state().connected, PATIENCE);
      await startBilling({ partitionAssigners: [subscribersAssigner(async () => [])] });
      await eventually(async () => (await inspect()).foreign.some((says) => says.includes('(billing at /')), PATIENCE);
      await eventually(() => foreign(consumer).some((says) => says.includes('(billing-')), PATIENCE);
    });
  });

  it('finds records of a tier that no member of the group reads', async () => {
    const tier = unique('tier');
    const consumer = await consume();
    await eventually(() => consumer.state().connected, PATIENCE);
    await broker.publish(tier, [{ key: null, value: Buffer.from('waits'), headers: [] }]);
    expect((await inspect(tier)).unreadTiers).toEqual([{ topic: tier, records: 1 }]);
    let end: () => void = () => undefined;
    const handle = () =>
      new Promise<void>((resolve) => {
        end = resolve;
      });
    const reader = await broker.consume({ topics: [tier], group, inFlight: 1, accept: () => ({ handle }) });
    closing.push(() => end());
    await eventually(() => reader.state().inHand === 1, PATIENCE);
    expect((await inspect(tier)).unreadTiers).toEqual([]);
  });

  it('finds records that an open transaction blocks, and the newest records', async () => {
    const producer = other.producer({
      ...{ transactionalId: unique('transaction'), idempotent: true, maxInFlightRequests: 1 },
    });
    closing.push(() => producer.disconnect());
    await producer.connect();
    await broker.publish(topic, [{ key: Buffer.from('key'), value: Buffer.from('before'), headers: [] }]);
    const { newest, blocked } = await inspect();
    expect([newest.map(({ value }) => String(value)), blocked]).toEqual([['before'], []]);
    const [{ partition } = { partition: -1 }] = newest;
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ value: 'open', partition }] });
    expect((await inspect()).blocked).toEqual([{ topic, partition, offset: 1, records: 1 }]);
    await transaction.commit();
    await eventually(async () => (await inspect()).blocked.length === 0, PATIENCE);
  });
});
