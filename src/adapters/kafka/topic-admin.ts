/** Creates missing topics and inspects existing ones. Each use has its own connection. */
import type { Admin, ITopicConfig, Kafka } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerRefused, type Extent } from '../../ports/broker.js';
import { decodedBehind } from '../common/done-behind.js';
import { askAdmin, KAFKA_LIMITS, onceKnown, type SessionLimits } from './admin-session.js';
import { highWatermarks } from './cluster-client.js';
import { forbiddenBy, isLeaderMissing, isPassing, translated } from './kafka-errors.js';
import type { GroupStart } from './partition-lane.js';
import {
  MAKE_ANEW,
  missingEntries,
  newTopicEntries,
  notOrderedText,
  type TopicConfig,
  topicConfigs,
} from './topic-config.js';

export interface TopicSettings {
  /** host:port */
  readonly brokers: readonly string[];
  readonly partitions: number;
  /** KAFKA_REPLICATION_FACTOR; null is the broker's default. */
  readonly replicationFactor: number | null;
  /** How long a record must be retained: KAFKA_RETENTION plus the longest delay of RETRY_SCHEDULE. ms */
  readonly retentionMs: number;
  /** Whether the service alone writes to a topic; payment topics are its users'. */
  readonly isOwn: (topic: string) => boolean;
  /** Whether the topic must have one partition, because its offsets number what is in it. */
  readonly isOrdered: (topic: string) => boolean;
}

export class TopicAdmin {
  readonly #kafka: Kafka;
  readonly #settings: TopicSettings;
  readonly #logger: Logger;
  readonly #limits: SessionLimits;
  /** Topics that were checked, or are being checked: concurrent callers share one answer. */
  readonly #ensured = new Map<string, Promise<void>>();

  constructor(kafka: Kafka, settings: TopicSettings, logger: Logger, limits: SessionLimits = KAFKA_LIMITS) {
    this.#kafka = kafka;
    this.#settings = settings;
    this.#logger = logger;
    this.#limits = limits;
  }

  /** Creates missing topics, refuses own ones that lose or refuse records, warns about the others. @throws errors of the port */
  async ensure(topics: readonly string[]): Promise<void> {
    const unknown = topics.filter((topic) => !this.#ensured.has(topic));
    if (unknown.length > 0) {
      const ensuring = this.#ensure([...new Set(unknown)]);
      for (const topic of unknown) this.#ensured.set(topic, ensuring);
      ensuring.catch(() => {
        for (const topic of unknown) this.#ensured.delete(topic);
      });
    }
    await Promise.all(topics.map((topic) => this.#ensured.get(topic)));
  }

  forget(topic: string): void {
    this.#ensured.delete(topic);
  }

  /** For topics of which one is gone. Never rejects. */
  async ensureAgain(topics: readonly string[]): Promise<void> {
    for (const topic of topics) this.forget(topic);
    await this.ensure(topics).catch((error: unknown) =>
      this.#logger.warn({ err: error, topics }, 'the topics are unavailable'),
    );
  }

  list(): Promise<string[]> {
    return this.#with(async (admin) => (await admin.listTopics()).filter((topic) => !topic.startsWith('__')));
  }

  /** By partition; empty for a topic that does not exist. */
  extent(topic: string): Promise<ReadonlyMap<number, Extent>> {
    return this.#with(async (admin) => {
      if (!(await admin.listTopics()).includes(topic)) return new Map();
      // In this order, so that records published in between do not look like an open transaction.
      const ends = await highWatermarks(this.#kafka, topic);
      const readable = await admin.fetchTopicOffsets(topic);
      return new Map(readable.map((of) => [of.partition, extentOf(of, ends)]));
    });
  }

  /** By topic and partition, the group's committed offset or else the oldest retained one. Missing topics are left out. */
  groupStart(group: string, topics: readonly string[]): Promise<Map<string, Map<number, GroupStart>>> {
    return this.#with(async (admin) => {
      const existing = new Set(await admin.listTopics());
      const known = topics.filter((topic) => existing.has(topic));
      // Even a request for no topic would make Kafka create its offsets topic.
      if (known.length === 0) return new Map();
      const remembered = await admin.fetchOffsets({ groupId: group, topics: known });
      const starts = new Map<string, Map<number, GroupStart>>();
      for (const topic of known) {
        const own = remembered.find((entry) => entry.topic === topic)?.partitions ?? [];
        const committed = new Map(own.map((entry) => [entry.partition, committedOf(entry)]));
        const offsets = await admin.fetchTopicOffsets(topic);
        starts.set(topic, new Map(offsets.map((entry) => [entry.partition, startOf(committed, entry)])));
      }
      return starts;
    });
  }

  /**
   * Waits two seconds at most until all partitions have leaders, whoever created them. Hazard: if only some accept records,
   * kafkajs sends all of them again: records were in the log twice.
   */
  #ensure(topics: readonly string[]): Promise<void> {
    return this.#with(async (admin) => {
      const existing = new Set(await admin.listTopics());
      const missing = topics.filter((topic) => !existing.has(topic));
      if (missing.length > 0) await this.#make(admin, missing);
      await Promise.all(topics.map((topic) => led(admin, topic)));
      await this.#check(
        admin,
        topics.filter((topic) => existing.has(topic)),
      );
    });
  }

  async #make(admin: Admin, topics: readonly string[]): Promise<void> {
    // kafkajs would wait for the brokers' metadata, which they return before the partitions have leaders.
    const made = admin.createTopics({ topics: topics.map((topic) => this.#newTopic(topic)), waitForLeaders: false });
    await made.catch((cause: unknown) => {
      const code = forbiddenBy(cause);
      if (code === null) throw cause;
      const text = `Kafka's policy forbids ${topics.join(', ')} as the service needs it (${code}): create it`;
      throw new BrokerRefused(text, { cause });
    });
  }

  #newTopic(topic: string): ITopicConfig {
    const { partitions, replicationFactor, retentionMs, isOwn, isOrdered } = this.#settings;
    const configEntries = newTopicEntries(retentionMs, isOwn(topic));
    const numPartitions = isOrdered(topic) ? 1 : partitions;
    return { topic, numPartitions, replicationFactor: replicationFactor ?? -1, configEntries };
  }

  async #check(admin: Admin, topics: readonly string[]): Promise<void> {
    if (topics.length === 0) return;
    const { isOrdered } = this.#settings;
    const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] });
    for (const { name, partitions: has } of found) {
      const isDivided = isOrdered(name) && has.length > 1;
      if (isDivided) throw new BrokerRefused(`${notOrderedText(name, has.length)}: ${MAKE_ANEW}`);
    }
    for (const [topic, config] of await topicConfigs(admin, topics)) this.#checkConfig(topic, config);
  }

  #checkConfig(topic: string, config: TopicConfig): void {
    const { retentionMs: needed, isOwn } = this.#settings;
    const { retentionMs, isCompacted } = config;
    if (retentionMs !== null && retentionMs < needed) {
      const about = { topic, 'retention.ms': retentionMs, needed };
      this.#logger.warn(about, 'records may expire before their retry is due: raise retention.ms of the topic');
    }
    if (!isOwn(topic)) {
      if (isCompacted) this.#logger.warn({ topic }, 'payments are lost: the topic is compacted; see doctor');
      return;
    }
    const missing = missingEntries(config).map(({ name, value }) => `${name}=${value}`);
    if (missing.length > 0) throw new BrokerRefused(`${topic} needs ${missing.join(' and ')}: set it`);
  }

  async #with<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    try {
      return await onceKnown(() => askAdmin(this.#kafka, this.#settings.brokers, this.#limits, work), isPassing);
    } catch (error) {
      throw translated(error);
    }
  }
}

/** A partition whose brokers are down has no leader for longer: the others go on. */
async function led(admin: Admin, topic: string): Promise<void> {
  try {
    await onceKnown(() => admin.fetchTopicOffsets(topic), isPassing);
  } catch (error) {
    if (!isLeaderMissing(error)) throw error;
  }
}

function extentOf(
  { partition, low, high }: { readonly partition: number; readonly low: string; readonly high: string },
  ends: ReadonlyMap<number, number>,
): Extent {
  const stable = Number(high);
  const next = Math.max(stable, ends.get(partition) ?? 0);
  return { first: Number(low), next, ...(stable < next && { stable }) };
}

/** The committed offset, while the topic still has it: a recreated topic, or one that lost its oldest records, does not. */
function startOf(
  committed: ReadonlyMap<number, GroupStart>,
  { partition, low, high }: { partition: number; low: string; high: string },
): GroupStart {
  const start = committed.get(partition);
  if (!start || start.offset < 0) return { offset: Number(low), committed: null };
  const isThere = Number(low) <= start.offset && start.offset <= Number(high);
  return isThere ? start : { offset: Number(low), committed: start.offset };
}

function committedOf(entry: { readonly offset: string; readonly metadata: string | null }): GroupStart {
  const offset = Number(entry.offset);
  const behind = decodedBehind(entry.metadata ?? '', offset);
  return { offset, committed: offset, ...(behind && { behind }) };
}
