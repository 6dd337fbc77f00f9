/** The configuration of topics that the service depends on. A cluster's defaults may be anything. */
// Node's ES modules don't see all of its named exports; the default export has them.
import kafkajs, { type Admin, type ConfigEntries, type IResourceConfigEntry } from 'kafkajs';
import { BrokerRefused } from '../../ports/broker.js';
import { isDenied } from './kafka-errors.js';

/**
 * What our own topics must take: the retry record of a payment of 512 KiB that is all key, in base64 683 KiB, and what is
 * ours in it, 100 KiB at most. Kafka's default is 12 bytes more.
 */
export const ENOUGH_BYTES = 1024 * 1024;

/** An ordered topic that has more than one. */
export function notOrderedText(topic: string, partitions: number): string {
  return `${topic} has ${partitions} partitions and must have one, whatever KAFKA_PARTITIONS says: its offsets are numbers`;
}

export const MAKE_ANEW =
  'stop the service, delete the topic if it is empty, and start again, which makes it anew; never one that was used (docs/reliability.md, "Not promised")';

const { TOPIC } = kafkajs.ConfigResourceTypes;
const RETENTION = 'retention.ms';
const CLEANUP = 'cleanup.policy';
const TIMESTAMP_TYPE = 'message.timestamp.type';
const MAX_MESSAGE = 'max.message.bytes';
const MIN_INSYNC = 'min.insync.replicas';

const NOT_COMPACTED = { name: CLEANUP, value: 'delete' };
/** The broker stamps records: Kafka's retention then doesn't depend on this machine's clock, nor does it refuse a wrong one. */
const STAMPED_BY_BROKER = { name: TIMESTAMP_TYPE, value: 'LogAppendTime' };
const TAKES_ALL = { name: MAX_MESSAGE, value: String(ENOUGH_BYTES) };

export interface TopicConfig {
  /** ms; null is unlimited. */
  readonly retentionMs: number | null;
  readonly isCompacted: boolean;
  readonly isStampedByBroker: boolean;
  readonly maxMessageBytes: number;
  readonly minInsyncReplicas: number;
}

/** Of a topic that the service creates. @param isOwn whether it alone writes to the topic */
export function newTopicEntries(retentionMs: number, isOwn: boolean): IResourceConfigEntry[] {
  const own = [STAMPED_BY_BROKER, TAKES_ALL];
  return [{ name: RETENTION, value: String(retentionMs) }, NOT_COMPACTED, ...(isOwn ? own : [])];
}

export function missingEntries(config: TopicConfig): IResourceConfigEntry[] {
  const { isCompacted, isStampedByBroker, maxMessageBytes } = config;
  return [
    ...(isCompacted ? [NOT_COMPACTED] : []),
    ...(isStampedByBroker ? [] : [STAMPED_BY_BROKER]),
    ...(maxMessageBytes < ENOUGH_BYTES ? [TAKES_ALL] : []),
  ];
}

/** @throws BrokerRefused without the permission; kafkajs's errors */
export async function topicConfigs(admin: Admin, topics: readonly string[]): Promise<Map<string, TopicConfig>> {
  const configNames = [RETENTION, CLEANUP, TIMESTAMP_TYPE, MAX_MESSAGE, MIN_INSYNC];
  const asked = topics.map((name) => ({ type: TOPIC, name, configNames }));
  const described = await admin
    .describeConfigs({ resources: asked, includeSynonyms: false })
    .catch((cause: unknown) => {
      if (!isDenied(cause)) throw cause;
      const why = 'without it the service cannot see whether they lose records';
      throw new BrokerRefused(`Kafka denies DescribeConfigs on ${topics.join(', ')}: ${why}`, { cause });
    });
  return new Map(described.resources.map((one) => [one.resourceName, configOf(one.configEntries)]));
}

function configOf(entries: readonly ConfigEntries[]): TopicConfig {
  const entry = (name: string) => entries.find(({ configName }) => configName === name)?.configValue;
  const ms = Number(entry(RETENTION) ?? -1);
  return {
    retentionMs: ms < 0 ? null : ms,
    isCompacted: entry(CLEANUP)?.includes('compact') ?? false,
    isStampedByBroker: entry(TIMESTAMP_TYPE) === STAMPED_BY_BROKER.value,
    maxMessageBytes: Number(entry(MAX_MESSAGE) ?? ENOUGH_BYTES),
    minInsyncReplicas: Number(entry(MIN_INSYNC) ?? 1),
  };
}
