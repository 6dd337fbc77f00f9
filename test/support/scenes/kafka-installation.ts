import { randomBytes, randomUUID } from 'node:crypto';
import type { Settings } from '../clients/service.js';
import type { Receiver } from '../servers/receiver.js';
import { installation } from './story.js';

/** An installation on a Kafka, and on an embedded event store. */
export function kafkaInstallation(brokers: string, receivers: readonly Receiver[], more: Settings = {}) {
  return installation(receivers, onKafka({ ...kafkaSettingsOn(brokers), ...more }));
}

/** A backbone of these settings. */
export function onKafka(settings: Settings, close: () => Promise<void> = async () => undefined) {
  return { name: 'Kafka', open: async () => ({ settings, close }) };
}

/** All names of topics and groups begin with a TOPIC_PREFIX of its own, so that tests can share a Kafka. */
export function kafkaSettingsOn(brokers: string) {
  const own = `${randomUUID()}.`;
  return {
    BROKER_URL: `kafka://${brokers}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    KAFKA_PARTITIONS: '3',
    PAYMENT_TOPICS: `${own}payment-events`,
    TOPIC_PREFIX: own,
  };
}
