/** What a group has to live through on a real Kafka, beyond the contract: transactions, and topics that go and come. */
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import type { NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { unique } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { type RecordingLogger, recordingLogger } from '../../support/scenes/recording-logger.js';

const PATIENCE = { timeout: 30_000 };

withKafka((brokers) => {
  let kafka: Kafka;
  let admin: Admin;
  let logger: RecordingLogger;
  let opened: KafkaBroker[] = [];
  let received: string[];
  let topic: string;
  let group: string;

  beforeEach(async () => {
    kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    admin = kafka.admin();
    await admin.connect();
    logger = recordingLogger();
    received = [];
    topic = unique('topic');
    group = unique('group');
  });

  afterEach(async () => {
    await Promise.all(opened.map((broker) => broker.close()));
    opened = [];
    await admin.disconnect();
  });

  function open(): KafkaBroker {
    const broker = new KafkaBroker({ ...kafkaSettings(brokers), partitions: 1 }, logger);
    opened.push(broker);
    return broker;
  }

  const consume = (broker: KafkaBroker, topics: readonly string[], into: string[] = received) =>
    broker.consume({
      topics,
      group,
      inFlight: 10,
      accept: () => ({ handle: async (record: ReceivedRecord) => void into.push(String(record.value)) }),
    });

  const record = (value: string): NewRecord => ({ key: null, value: Buffer.from(value), headers: [] });

  const publishes = (broker: KafkaBroker, to: string, value: string) =>
    broker.publish(to, [record(value)]).then(
      () => true,
      () => false,
    );

  it('starts behind records that were deleted before they were done; what is in hand is not lost', async () => {
    const broker = open();
    const again = async () =>
      broker.consume({
        topics: [topic],
        group,
        inFlight: 10,
        accept: () => ({ handle: async ({ value }) => void received.push(`${value}`) }),
      });
    await broker.publish(topic, [record('a')]);
    const consumer = await again();
    await eventually(async () => (await broker.committed(group, topic)).get(0) === 1, PATIENCE);
    await consumer.close();
    for (const value of ['b', 'c', 'd']) await broker.publish(topic, [record(value)]);
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '3' }] });
    expect(await broker.committed(group, topic)).toEqual(new Map([[0, 1]]));
    await again();
    await eventually(() => received.length === 2, PATIENCE);
    expect(received).toEqual(['a', 'd']);
  });

  it('goes on behind an aborted transaction that is larger than a fetch', async () => {
    const broker = open();
    await consume(broker, [topic]);
    await broker.publish(topic, [record('before')]);
    await eventually(() => received.length === 1, PATIENCE);
    const producer = kafka.producer({
      transactionalId: unique('transaction'),
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await producer.connect();
    const transaction = await producer.transaction();
    const value = Buffer.alloc(1_000);
    for (let batch = 0; batch < 8; batch += 1) {
      await transaction.send({ topic, messages: Array.from({ length: 100 }, () => ({ value })) });
    }
    await transaction.abort();
    await producer.disconnect();
    await broker.publish(topic, [record('after')]);
    await eventually(() => received.length === 2, PATIENCE);
    expect(received).toEqual(['before', 'after']);
  });

  it('reads a topic from its start that was deleted and made again by somebody else', async () => {
    const broker = open();
    await consume(broker, [topic]);
    await broker.publish(topic, ['1', '2', '3'].map(record));
    await eventually(() => received.length === 3, PATIENCE);
    await admin.deleteTopics({ topics: [topic] });
    // The consumer may have been first to make it again.
    await eventually(async () => {
      await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] }).catch(() => undefined);
      return (await admin.listTopics()).includes(topic);
    }, PATIENCE);
    const another = open();
    await eventually(() => publishes(another, topic, 'anew'), PATIENCE);
    await eventually(() => received.includes('anew'), PATIENCE);
    await another.publish(topic, [record('and on')]);
    await eventually(() => received.includes('and on'), PATIENCE);
    expect(received).toEqual(['1', '2', '3', 'anew', 'and on']);
  });

  it('makes a topic again that was deleted, and reads the others meanwhile as ever', async () => {
    const other = unique('topic');
    const broker = open();
    await consume(broker, [topic, other]);
    await broker.publish(topic, [record('one')]);
    await broker.publish(other, [record('two')]);
    await eventually(() => received.length === 2, PATIENCE);
    await admin.deleteTopics({ topics: [topic] });
    // For a moment Kafka lists, and takes records for, a topic that it has just deleted.
    await eventually(() => logger.errors.length > 0, PATIENCE);
    await eventually(async () => (await admin.listTopics()).includes(topic), PATIENCE);
    await broker.publish(other, [record('three')]);
    const another = open();
    await eventually(() => publishes(another, topic, 'four'), PATIENCE);
    await eventually(() => received.length >= 4, PATIENCE);
    expect(received.slice(2).sort()).toEqual(['four', 'three']);
  });

  it('shares a group whose members subscribe different topics: each topic goes to who knows it', async () => {
    const added = unique('topic');
    const [older, newer] = [open(), open()];
    const [ofOlder, ofNewer]: [string[], string[]] = [[], []];
    await consume(older, [topic], ofOlder);
    await older.publish(topic, [record('first')]);
    await eventually(() => ofOlder.length === 1, PATIENCE);
    await newer.publish(added, [record('added')]);
    await consume(newer, [topic, added], ofNewer);
    await eventually(() => ofNewer.includes('added'), PATIENCE);
    await newer.publish(topic, [record('second')]);
    await eventually(() => [...ofOlder, ...ofNewer].includes('second'), PATIENCE);
  });

  it.each(['gzip', 'snappy', 'lz4', 'zstd', 'uncompressed'])(
    'reads a topic whose broker packs it: compression.type=%s',
    async (type) => {
      const configEntries = [{ name: 'compression.type', value: type }];
      await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }], waitForLeaders: false });
      const broker = open();
      const values = Array.from({ length: 300 }, (_, n) => `${n} ${'of a payment event '.repeat(20)}`);
      await broker.publish(topic, values.map(record));
      await consume(broker, [topic]);
      await eventually(() => received.length === values.length, PATIENCE);
      expect(received).toEqual(values);
      const browsed: string[] = [];
      for await (const { value } of topicRecords(broker, topic)) browsed.push(String(value));
      expect(browsed).toEqual(values);
    },
  );

  it('reads packed transactions that were committed, and nothing of those that were aborted', async () => {
    const broker = open();
    await consume(broker, [topic]);
    const transactionalId = unique('transaction');
    const producer = kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    for (const name of ['aborted', 'committed']) {
      const transaction = await producer.transaction();
      const messages = Array.from({ length: 50 }, (_, n) => ({ value: `${name} ${n}` }));
      await transaction.send({ topic, messages, compression: kafkajs.CompressionTypes.GZIP });
      await (name === 'aborted' ? transaction.abort() : transaction.commit());
    }
    await producer.disconnect();
    await eventually(() => received.length === 50, PATIENCE);
    expect(received.every((value) => value.startsWith('committed'))).toBe(true);
    const browsed: string[] = [];
    for await (const { value } of topicRecords(broker, topic)) browsed.push(String(value));
    expect(browsed).toEqual(received);
  });
});
