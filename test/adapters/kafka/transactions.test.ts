/** Browse reads a topic to where it stood, whatever became of transactions that wrote to it. */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import kafkajs, { type Kafka, type Transaction } from 'kafkajs';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { collect, unique } from '../../contract/contract.js';
import { eventually } from '../../support/eventually.js';
import { kafkaSettings, withKafka } from '../../support/kafka-subjects.js';
import { silentLogger } from '../../support/silent-logger.js';

jest.setTimeout(120_000);

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

  const browsed = async () => (await collect(broker.browse(topic))).map(({ value }) => String(value));

  /** Kafka acknowledges an end once it is decided; the partition has its marker a little later, and is open until then. */
  const ended = (records: number) => eventually(async () => (await browsed()).length >= records);

  it('stands before one that is open, and what is behind it is not there yet', async () => {
    await publish('before');
    await transaction('open');
    await publish('behind');
    expect(await browsed()).toEqual(['before']);
  });

  it('has nothing where all is in one that is open', async () => {
    await broker.ensureTopics([topic]);
    await transaction('open');
    expect(await browsed()).toEqual([]);
  });

  it('goes on behind one that was committed, at the end of the topic too', async () => {
    await publish('before');
    await (await transaction('committed')).commit();
    await ended(2);
    expect(await browsed()).toEqual(['before', 'committed']);
    await publish('behind');
    expect(await browsed()).toEqual(['before', 'committed', 'behind']);
  });

  it('goes on behind one that was aborted, at the end of the topic too', async () => {
    await publish('before');
    await (await transaction('aborted')).abort();
    expect(await browsed()).toEqual(['before']);
    await publish('behind');
    await ended(2);
    expect(await browsed()).toEqual(['before', 'behind']);
  });
});
