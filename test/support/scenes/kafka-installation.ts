import { randomBytes } from 'node:crypto';
import type { Settings } from '../clients/service.js';
import type { Receiver } from '../servers/receiver.js';
import { installation } from './story.js';

/** An installation on the test's own Kafka. */
export function kafkaInstallation(brokers: string, receivers: readonly Receiver[], more: Settings = {}) {
  const settings = { ...kafkaSettingsOn(brokers), ...more };
  return installation(receivers, { open: async () => ({ settings, close: async () => undefined }) });
}

export function kafkaSettingsOn(brokers: string): Settings {
  return {
    BROKER_URL: `kafka://${brokers}`,
    MASTER_KEY: randomBytes(32).toString('base64'),
    KAFKA_PARTITIONS: '3',
    PAYMENT_TOPICS: 'payments',
  };
}
