/** Creates missing topics and inspects existing ones. Each use has its own connection. */
import type { Admin, ITopicConfig, Kafka } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerRefused } from '../../ports/broker.js';
import { decodedBehind } from '../common/done-behind.js';
import { askAdmin, STAMPED_BY_BROKER, stampByBroker, type TopicConfig, topicConfigs } from './admin-session.js';
import { isChangeDenied, isLeaderMissing, isUnknownTopic, translated } from './kafka-errors.js';
import { KAFKA_LIMITS, type SessionLimits } from './limits.js';
import { onceKnown } from './once-known.js';
import type { GroupStart } from './partition-lane.js';

export interface TopicSettings {
  /** host:port */
  readonly brokers: readonly string[];
  /** KAFKA_PARTITIONS */
  readonly partitions: number;
  /** KAFKA_REPLICATION_FACTOR; null is the broker's default. */
  readonly replicationFactor: number | null;
  /** How long a record must be retained: KAFKA_RETENTION plus the longest delay of RETRY_SCHEDULE. ms */
  readonly retentionMs: number;
  /** Whether the service alone writes to a topic; payment topics are its users'. */
  readonly isOwn: (topic: string) => boolean;
}

export interface PartitionOffsets {
  readonly partition: number;
  /** The oldest retained offset. */
  readonly low: number;
  /** The offset of the next record. */
  readonly high: number;
}

/** kafkajs fails on its own null if no broker returns metadata for its topics, as after a broker's restart. */
const isPassing = (error: unknown) => isUnknownTopic(error) || isLeaderMissing(error) || error instanceof TypeError;

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

  /**
   * Creates missing topics, has the broker stamp the records of own ones, and warns about topics whose retention is too
   * short. @throws errors of the port
   */
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

  /** The topic may be gone: the next ensure checks again. */
  forget(topic: string): void {
    this.#ensured.delete(topic);
  }

  list(): Promise<string[]> {
    return this.#with(async (admin) => (await admin.listTopics()).filter((topic) => !topic.startsWith('__')));
  }

  /** Empty for a topic that does not exist. */
  offsets(topic: string): Promise<PartitionOffsets[]> {
    return this.#with(async (admin) => {
      if (!(await admin.listTopics()).includes(topic)) return [];
      const offsets = await admin.fetchTopicOffsets(topic);
      return offsets.map(({ partition, low, high }) => ({ partition, low: Number(low), high: Number(high) }));
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

  deleteGroup(group: string): Promise<void> {
    return this.#with(async (admin) => void (await admin.deleteGroups([group])));
  }

  /**
   * Waits until all partitions have leaders, two seconds at most, including topics that another process may have just
   * created. Hazard: some partitions accept earlier records while others refuse, and then kafkajs sends all of them again:
   * records were in the log twice.
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
    await admin.createTopics({ topics: topics.map((topic) => this.#newTopic(topic)), waitForLeaders: false });
  }

  #newTopic(topic: string): ITopicConfig {
    const { partitions, replicationFactor, retentionMs, isOwn } = this.#settings;
    const configEntries = [
      { name: 'retention.ms', value: String(retentionMs) },
      ...(isOwn(topic) ? [STAMPED_BY_BROKER] : []),
    ];
    return { topic, numPartitions: partitions, replicationFactor: replicationFactor ?? -1, configEntries };
  }

  async #check(admin: Admin, topics: readonly string[]): Promise<void> {
    if (topics.length === 0) return;
    const { partitions } = this.#settings;
    const { topics: found } = await admin.fetchTopicMetadata({ topics: [...topics] });
    for (const { name, partitions: has } of found) {
      if (has.length < partitions) {
        this.#logger.warn({ topic: name, partitions: has.length, KAFKA_PARTITIONS: partitions }, 'too few partitions');
      }
    }
    for (const [topic, config] of await topicConfigs(admin, topics)) await this.#checkConfig(admin, topic, config);
  }

  async #checkConfig(admin: Admin, topic: string, { retentionMs, isStampedByBroker }: TopicConfig): Promise<void> {
    const { retentionMs: needed, isOwn } = this.#settings;
    if (retentionMs !== null && retentionMs < needed) {
      const about = { topic, 'retention.ms': retentionMs, needed };
      this.#logger.warn(about, 'records may expire before their retry is due: raise retention.ms of the topic');
    }
    if (!isOwn(topic) || isStampedByBroker) return;
    await stampByBroker(admin, topic).catch((cause: unknown) => {
      if (!isChangeDenied(cause)) throw cause;
      const { name, value } = STAMPED_BY_BROKER;
      throw new BrokerRefused(`${topic} needs ${name}=${value}, and Kafka denies the change: set it`, { cause });
    });
    this.#logger.warn({ topic, ...STAMPED_BY_BROKER }, 'the configuration of the topic was corrected');
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
