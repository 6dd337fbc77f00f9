/** What operators need to know about a Kafka and its topics. Read-only. */
import type { Admin, Kafka } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerUnavailable, type ReceivedRecord } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import { askAdmin } from './admin-session.js';
import { connection, type KafkaSettings } from './broker.js';
import { highWatermarks } from './cluster-client.js';
import { findForeignMembers, readSubscriptions } from './foreign-members.js';
import { isCoordinatorMissing, isUnknownTopic, translated } from './kafka-errors.js';
import { lastFailure } from './kafkajs-repairs/sockets.js';
import { PlaceReader } from './place-reader.js';
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
  /** Other applications in the groups, a sentence each. */
  readonly foreign: readonly string[];
  /** Records of tiers that no member of the group reads. */
  readonly unreadTiers: readonly { readonly topic: string; readonly records: number }[];
  readonly blocked: readonly BlockedRecords[];
  /** The newest record of each partition of the stamped topic. */
  readonly newest: readonly ReceivedRecord[];
}

/** Records that cannot be read before a transaction ends. */
export interface BlockedRecords {
  readonly topic: string;
  readonly partition: number;
  /** Of the first one. */
  readonly offset: number;
  readonly records: number;
}

export interface InspectionOf {
  readonly topics: readonly string[];
  /** Consumer groups that the user must have permission to read. */
  readonly groups: readonly string[];
  /** The group that reads the tiers, and which of the existing topics are tiers. */
  readonly tiers: { readonly group: string; readonly isTier: (topic: string) => boolean };
  /** Topics whose producers may use transactions. */
  readonly transactional: readonly string[];
  /** A topic whose records are stamped by the clocks of the brokers. */
  readonly stamped: string;
}

/** A transaction that is open before and after this time does not move while others end. */
const STILL_OPEN_MS = 2_000;

/** Together they fit a command's 15 s. */
const LIMITS = { connectMs: 6_000, workMs: 8_000 };

/** @throws BrokerUnavailable, BrokerRefused */
export async function inspectKafka(settings: KafkaSettings, logger: Logger, of: InspectionOf): Promise<Inspection> {
  const begunAt = performance.now();
  const kafka = connection(settings, logger);
  const failure = () => lastFailure(kafka, begunAt);
  try {
    return await askAdmin(kafka, settings.brokers, LIMITS, (admin) => inspected(kafka, admin, of, failure));
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
  kafka: Kafka,
  admin: Admin,
  of: InspectionOf,
  failure: () => Error | null,
): Promise<Inspection> {
  const { brokers } = await admin.describeCluster();
  const existing = new Set(await admin.listTopics());
  const known = of.topics.filter((topic) => existing.has(topic));
  const nothing = { topics: [], unledGroups: [], foreign: [], unreadTiers: [], blocked: [], newest: [] };
  if (known.length === 0) return { brokers: brokers.length, ...nothing };
  const groups = await committedBy(admin, of.groups, known);
  const unledGroups = of.groups.filter((group) => !groups.has(group));
  // Then no permission is missing: the coordinator can't be reached.
  const failed = unledGroups.length > 0 ? failure() : null;
  if (failed) throw failed;
  return {
    brokers: brokers.length,
    topics: await describeTopics(admin, known),
    unledGroups,
    ...(await inspectGroups(admin, groups, of, [...existing].filter(of.tiers.isTier))),
    blocked: await findBlocked(
      kafka,
      admin,
      of.transactional.filter((topic) => existing.has(topic)),
    ),
    newest: existing.has(of.stamped) ? await readNewest(kafka, admin, of.stamped) : [],
  };
}

async function describeTopics(admin: Admin, topics: string[]): Promise<readonly InspectedTopic[]> {
  const { topics: metadata } = await admin.fetchTopicMetadata({ topics });
  const configs = await topicConfigs(admin, topics);
  return metadata.map(({ name, partitions }) => ({
    name,
    partitions: partitions.length,
    replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
    leaderless: partitions.filter(({ leader }) => leader < 0).length,
    underReplicated: partitions.filter(({ isr, replicas }) => isr.length < replicas.length).length,
    ...configOf(configs, name),
  }));
}

type Committed = Awaited<ReturnType<Admin['fetchOffsets']>>;

async function inspectGroups(
  admin: Admin,
  committed: ReadonlyMap<string, Committed>,
  { tiers: { group } }: InspectionOf,
  tiers: readonly string[],
): Promise<Pick<Inspection, 'foreign' | 'unreadTiers'>> {
  const { groups } = await admin.describeGroups([...committed.keys()]);
  const hasOffsets = (groupId: string) =>
    committed.get(groupId)?.some(({ partitions }) => partitions.some(({ offset }) => Number(offset) >= 0)) === true;
  const foreign = groups.flatMap((one) => findForeignMembers(one, hasOffsets(one.groupId)));
  const reading = groups.find(({ groupId }) => groupId === group);
  const read = reading ? readSubscriptions(reading) : null;
  const unread = read ? tiers.filter((topic) => !read.has(topic)) : [];
  const counted = await Promise.all(
    unread.map(async (topic) => ({ topic, records: await countWaiting(admin, group, topic) })),
  );
  return { foreign, unreadTiers: counted.filter(({ records }) => records > 0) };
}

async function countWaiting(admin: Admin, groupId: string, topic: string): Promise<number> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const committed = new Map(found?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
  const extents = await admin.fetchTopicOffsets(topic);
  const waiting = extents.map(({ partition, low, high }) => {
    return Number(high) - Math.max(Number(low), committed.get(partition) ?? 0);
  });
  return waiting.reduce((sum, records) => sum + Math.max(0, records), 0);
}

/** Those of transactions that stay open for a while: each of a busy producer blocks some for a moment. */
async function findBlocked(kafka: Kafka, admin: Admin, topics: readonly string[]): Promise<readonly BlockedRecords[]> {
  const find = async () => (await Promise.all(topics.map((topic) => blockedIn(kafka, admin, topic)))).flat();
  const before = await find();
  if (before.length === 0) return [];
  await sleep(STILL_OPEN_MS);
  const isSame = (one: BlockedRecords) => (other: BlockedRecords) =>
    other.topic === one.topic && other.partition === one.partition && other.offset === one.offset;
  return (await find()).filter((one) => before.some(isSame(one)));
}

async function blockedIn(kafka: Kafka, admin: Admin, topic: string): Promise<BlockedRecords[]> {
  // In this order, so that records published in between do not look like an open transaction.
  const ends = await highWatermarks(kafka, topic);
  const readable = await admin.fetchTopicOffsets(topic);
  return readable.flatMap(({ partition, high }) => {
    const offset = Number(high);
    const records = (ends.get(partition) ?? 0) - offset;
    return records > 0 ? [{ topic, partition, offset, records }] : [];
  });
}

async function readNewest(kafka: Kafka, admin: Admin, topic: string): Promise<readonly ReceivedRecord[]> {
  const reader = new PlaceReader(kafka);
  try {
    const extents = await admin.fetchTopicOffsets(topic);
    const filled = extents.filter(({ low, high }) => Number(high) > Number(low));
    const read = await Promise.all(
      filled.map(({ partition, high }) => reader.read({ topic, partition, offset: Number(high) - 1 })),
    );
    return read.filter((record) => record !== null);
  } finally {
    await reader.close();
  }
}

function configOf(configs: ReadonlyMap<string, TopicConfig>, topic: string): TopicConfig {
  const config = configs.get(topic);
  if (!config) throw new BrokerUnavailable(`Kafka did not describe ${topic}`);
  return config;
}

/** By group with a coordinator. kafkajs doesn't distinguish a refusal from a missing coordinator. */
async function committedBy(admin: Admin, groups: readonly string[], topics: readonly string[]) {
  const committed = new Map<string, Committed>();
  for (const groupId of groups) {
    try {
      committed.set(groupId, await admin.fetchOffsets({ groupId, topics: [...topics] }));
    } catch (error) {
      if (!isCoordinatorMissing(error)) throw error;
    }
  }
  return committed;
}
