/** The broker on a real Kafka as a subject of the contract suite. Topic names are unique: tests share the server. */
import kafkajs from 'kafkajs';
import { KafkaBroker, type KafkaSettings } from '../../../src/adapters/kafka/broker.js';
import { MOST_UNPACKED_BYTES } from '../../../src/adapters/kafka/fetched/codecs.js';
import type { Broker } from '../../../src/ports/broker.js';
import type { Features, Open } from '../../contract/contract.js';
import { AdapterSubject, alone } from './adapter-subject.js';
import { silentLogger } from './silent-logger.js';

export const KAFKA: Features = {
  has: ['sharedGroups', 'poison', ...(process.env.TEST_ALL ? (['muchPoison'] as const) : [])],
  isConcurrent: true,
  patienceMs: 20_000,
};

export function kafkaSettings(brokers: string): KafkaSettings {
  return {
    brokers: brokers.split(','),
    partitions: 3,
    replicationFactor: null,
    retentionMs: 7 * 86_400_000,
    isOwn: () => false,
    isOrdered: () => false,
    sessionTimeoutMs: 6_000,
  };
}

/** Runs tests that need Kafka, or reports loudly that they did not run. */
export function withKafka(define: (brokers: string) => void): void {
  const brokers = process.env.KAFKA_BROKERS;
  if (brokers) define(brokers);
  else
    describe('KAFKA', () =>
      test.skip('IS NOT THERE: set KAFKA_BROKERS, or install Java 17 and Maven', () => undefined));
}

export function kafkaBroker(brokers: string): Open<Broker> {
  const open = () => alone<Broker>(new KafkaBroker(kafkaSettings(brokers), silentLogger));
  return async (features) => new AdapterSubject(features, open, { poison: (topic) => poisonTopic(brokers, topic) });
}

/** A valid batch that unpacks to more than the limit. Its key is that of the contract's records. */
async function poisonTopic(brokers: string, topic: string): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  try {
    const value = Buffer.alloc(MOST_UNPACKED_BYTES);
    await producer.send({ topic, compression: kafkajs.CompressionTypes.GZIP, messages: [{ key: 'key', value }] });
  } finally {
    await producer.disconnect();
  }
}
