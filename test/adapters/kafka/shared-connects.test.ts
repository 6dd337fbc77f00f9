import { randomUUID } from 'node:crypto';
import { KafkaBroker } from '../../../src/adapters/kafka/broker.js';
import { eventually } from '../../support/clocks/eventually.js';
import { kafkaSettings, withKafka } from '../../support/scenes/kafka-subjects.js';
import { silentLogger } from '../../support/scenes/silent-logger.js';

const OFFSETS = [0, 1, 2, 3, 4];
const sockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

withKafka((brokers) => {
  let broker: KafkaBroker;
  let before: number;

  beforeEach(() => {
    before = sockets();
    broker = new KafkaBroker({ ...kafkaSettings(brokers), partitions: 1 }, silentLogger);
  });

  afterEach(() => broker.close());

  it('the first reads, made at once, share one connection for requests and one for fetches', async () => {
    const topic = `shared-connects-${randomUUID()}`;
    await broker.ensureTopics([topic]);
    const records = OFFSETS.map((n) => ({ key: Buffer.from('one'), value: Buffer.from(String(n)), headers: [] }));
    await broker.publish(topic, records);
    await broker.close();
    await eventually(() => sockets() === before);
    broker = new KafkaBroker(kafkaSettings(brokers), silentLogger);
    const read = await Promise.all(OFFSETS.map((offset) => broker.read(topic, 0, offset)));
    expect(read.map((record) => record?.offset)).toEqual(OFFSETS);
    expect(sockets() - before).toBe(2);
    await broker.close();
    await eventually(() => sockets() === before);
  });
});
