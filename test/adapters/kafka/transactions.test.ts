/** Browse reads a topic to where it stood, whatever became of transactions that wrote to it. */
import kafkajs, { type Kafka, type Transaction } from 'kafkajs';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import { collect, unique } from '../../contract/contract.js';
import { eventually } from '../../support/clocks/eventually.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';

withKafka((brokers) => {
  let kafka: Kafka;
  let broker: KafkaBroker;
  let topic: string;
  let cleanups: (() => Promise<unknown>)[];

  beforeEach(() => {
    kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
    broker = new KafkaBroker({ ...kafkaSettings(brokers), partitions: 1 }, silentLogger);
    topic = unique('topic');
    cleanups = [() => broker.close()];
  });

  afterEach(async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  });

  const publish = (value: string) => broker.publish(topic, [{ key: null, value: Buffer.from(value), headers: [] }]);

  /** With one record, that says so. */
  async function transaction(value: string): Promise<Transaction> {
    const options = { transactionalId: unique('transaction'), idempotent: true, maxInFlightRequests: 1 };
    const producer = kafka.producer(options);
    await producer.connect();
    cleanups.push(() => producer.disconnect());
    const begun = await producer.transaction();
    cleanups.push(() => begun.abort().catch(() => undefined));
    await begun.send({ topic, messages: [{ value }] });
    return begun;
  }

  const browsed = async () => (await collect(topicRecords(broker, topic))).map(({ value }) => String(value));

  it('stands before one that is open, and what is behind it is not there yet', async () => {
    await publish('before');
    await transaction('open');
    await publish('behind');
    expect(await browsed()).toEqual(['before']);
  });

  it('reports what an open one holds back, and browses it on request', async () => {
    await publish('before');
    await transaction('open');
    await publish('behind');
    expect(await broker.extent(topic)).toEqual(new Map([[0, { first: 0, next: 3, stable: 1 }]]));
    const heldBack = async (to: number) => {
      const ranges = new Map([[0, { from: 1, to }]]);
      const held = await collect(topicRecords(broker, topic, { ranges, uncommitted: true }));
      return held.map(({ value }) => String(value));
    };
    expect(await heldBack(3)).toEqual(['open', 'behind']);
    await (await transaction('aborted')).abort();
    // Its marker is the last offset.
    const end = await eventually(async () => {
      const { next = 0 } = (await broker.extent(topic)).get(0) ?? {};
      return next === 5 && next;
    });
    expect(await heldBack(end)).toEqual(['open', 'behind', 'aborted']);
  });
});
