/** The broker on a real Kafka as a subject of the contract suite. Topics have unique names: the server is shared. */
import { describe, test } from '@jest/globals';
import { KafkaBroker, type KafkaSettings } from '../../src/adapters/kafka/broker.js';
import type { Broker } from '../../src/ports/broker.js';
import type { Features, Open } from '../contract/contract.js';
import { AdapterSubject, alone } from './adapter-subject.js';
import { silentLogger } from './silent-logger.js';

export const KAFKA: Features = {
  reopen: true,
  severalProcesses: true,
  severalPartitions: true,
  concurrent: true,
  headerOrder: false,
  rebalances: true,
  latencyMs: null,
  stall: false,
  damage: false,
  patienceMs: 20_000,
};

export function kafkaSettings(brokers: string): KafkaSettings {
  return {
    brokers: brokers.split(','),
    partitions: 3,
    replicationFactor: null,
    retentionMs: 7 * 86_400_000,
    sessionTimeoutMs: 6_000,
  };
}

/** Runs what needs Kafka, or says loudly that it did not. */
export function withKafka(define: (brokers: string) => void): void {
  const brokers = process.env.KAFKA_BROKERS;
  if (brokers) define(brokers);
  else
    describe('KAFKA', () =>
      test.skip('IS NOT THERE: set KAFKA_BROKERS, or install Java 17 and Maven', () => undefined));
}

export function kafkaBroker(brokers: string): Open<Broker> {
  const open = () => alone<Broker>(new KafkaBroker(kafkaSettings(brokers), silentLogger));
  return async (features) => new AdapterSubject(features, open);
}
