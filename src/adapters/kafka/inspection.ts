/** What operators need to know about a Kafka and its topics. Read-only. */
import type { Admin } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerUnavailable } from '../../ports/broker.js';
import { askAdmin } from './admin-session.js';
import { connection, type KafkaSettings } from './broker.js';
import { isCoordinatorMissing, isUnknownTopic, translated } from './kafka-errors.js';
import { lastFailure } from './kafkajs-repairs/sockets.js';
import { type TopicConfig, topicConfigs } from './topic-config.js';

export interface InspectedTopic extends TopicConfig {
  readonly name: string;
  readonly partitions: number;
  /** Of the partition with the fewest. */
  readonly replicas: number;
  /** Partitions without a leader: neither writable nor readable now. */
  readonly leaderless: number;
  /** Partitions with an out-of-sync replica. */
  readonly underReplicated: number;
}

export interface Inspection {
  readonly brokers: number;
  readonly topics: readonly InspectedTopic[];
  /** Groups without a known coordinator: the user lacks the permission, or the brokers are unhealthy. */
  readonly unledGroups: readonly string[];
}

export interface InspectionOf {
  readonly topics: readonly string[];
  /** Consumer groups that the user must have permission to read. */
  readonly groups: readonly string[];
}

/** Together they fit a command's 15 s. */
const LIMITS = { connectMs: 6_000, workMs: 8_000 };

/** @throws BrokerUnavailable, BrokerRefused */
export async function inspectKafka(settings: KafkaSettings, logger: Logger, of: InspectionOf): Promise<Inspection> {
  const begunAt = performance.now();
  const kafka = connection(settings, logger);
  const failure = () => lastFailure(kafka, begunAt);
  try {
    return await askAdmin(kafka, settings.brokers, LIMITS, (admin) => inspected(admin, of, failure));
  } catch (error) {
    throw translated(error);
  }
}

/** retention.ms; null: unlimited, or there is no such topic. @throws BrokerUnavailable, BrokerRefused */
export async function topicRetentionMs(settings: KafkaSettings, logger: Logger, topic: string): Promise<number | null> {
  const kafka = connection(settings, logger);
  try {
    const configs = await askAdmin(kafka, settings.brokers, LIMITS, (admin) => topicConfigs(admin, [topic]));
    return configs.get(topic)?.retentionMs ?? null;
  } catch (error) {
    if (isUnknownTopic(error)) return null;
    throw translated(error);
  }
}

/** @param failure of a connection, if there was one */
async function inspected(
  admin: Admin,
  { topics, groups }: InspectionOf,
  failure: () => Error | null,
): Promise<Inspection> {
  const { brokers } = await admin.describeCluster();
  const existing = new Set(await admin.listTopics());
  const known = topics.filter((topic) => existing.has(topic));
  if (known.length === 0) return { brokers: brokers.length, topics: [], unledGroups: [] };
  const unledGroups = await groupsWithoutLeader(admin, groups, known);
  // Then no permission is missing: the coordinator can't be reached.
  const failed = unledGroups.length > 0 ? failure() : null;
  if (failed) throw failed;
  const { topics: metadata } = await admin.fetchTopicMetadata({ topics: known });
  const configs = await topicConfigs(admin, known);
  const described = metadata.map(({ name, partitions }) => ({
    name,
    partitions: partitions.length,
    replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
    leaderless: partitions.filter(({ leader }) => leader < 0).length,
    underReplicated: partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length,
    ...configOf(configs, name),
  }));
  return { brokers: brokers.length, topics: described, unledGroups };
}

function configOf(configs: ReadonlyMap<string, TopicConfig>, topic: string): TopicConfig {
  const config = configs.get(topic);
  if (!config) throw new BrokerUnavailable(`Kafka did not describe ${topic}`);
  return config;
}

/** kafkajs doesn't distinguish a refusal from a missing coordinator. */
async function groupsWithoutLeader(admin: Admin, groups: readonly string[], topics: readonly string[]) {
  const unled: string[] = [];
  for (const groupId of groups) {
    try {
      await admin.fetchOffsets({ groupId, topics: [...topics] });
    } catch (error) {
      if (!isCoordinatorMissing(error)) throw error;
      unled.push(groupId);
    }
  }
  return unled;
}
