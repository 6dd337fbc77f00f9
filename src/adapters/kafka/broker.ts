/** The broker on Apache Kafka. Errors of kafkajs become errors of the port. */
import kafkajs, { type Kafka, type KafkaConfig } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import {
  type Broker,
  BrokerUnavailable,
  type CompletedAhead,
  type ConsumeOptions,
  type Consumer,
  type Extent,
  type FollowedPage,
  type FollowOptions,
  type NewRecord,
  type Position,
  type Positions,
  type ReceivedRecord,
  RecordRefused,
  SKIPPING,
  TimestampRefused,
  type UnreadableBatch,
} from '../../ports/broker.js';
import { assertSameTopic } from '../common/recreated.js';
import { KAFKA_LIMITS, type KafkaLimits } from './admin-session.js';
import { KafkaConsumer } from './consumer.js';
import { Follower } from './follower.js';
import { CLIENT_ID } from './foreign-members.js';
import { installRepairs } from './kafkajs-repairs/install.js';
import { withOwnSockets } from './kafkajs-repairs/sockets.js';
import { PlaceReader } from './place-reader.js';
import { Publisher } from './publisher.js';
import { sizeOf } from './records.js';
import { TopicAdmin, type TopicSettings } from './topic-admin.js';

export interface KafkaSettings extends TopicSettings, Pick<KafkaConfig, 'ssl' | 'sasl'> {
  /** After that long without a heartbeat, the group reassigns a member's partitions. ms */
  readonly sessionTimeoutMs: number;
}

export class KafkaBroker implements Broker {
  readonly #kafka: Kafka;
  readonly #settings: KafkaSettings;
  readonly #logger: Logger;
  readonly #admin: TopicAdmin;
  readonly #publisher: Publisher;
  readonly #places: PlaceReader;
  readonly #consumers = new Set<KafkaConsumer>();
  /** Of followers, whose connections close. */
  readonly #endings = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #closing: Promise<void> | null = null;

  constructor(settings: KafkaSettings, logger: Logger, limits: KafkaLimits = KAFKA_LIMITS) {
    this.#settings = settings;
    this.#logger = logger;
    this.#kafka = connection(settings, logger, limits);
    this.#admin = new TopicAdmin(this.#kafka, settings, logger, limits);
    this.#publisher = new Publisher(this.#kafka, limits);
    this.#places = new PlaceReader(this.#kafka);
  }

  async publish(topic: string, records: readonly NewRecord[]): Promise<readonly number[]> {
    this.#mustBeOpen();
    await this.#admin.ensure([topic]);
    this.#mustBeOpen();
    try {
      return await this.#publisher.publish(topic, records);
    } catch (error) {
      if (error instanceof RecordRefused) throw refused(topic, records, error);
      // The topic may have been deleted: the next publish checks.
      this.#admin.forget(topic);
      throw error;
    }
  }

  async consume(options: ConsumeOptions): Promise<Consumer> {
    this.#mustBeOpen();
    await this.#admin.ensure(options.topics);
    this.#mustBeOpen();
    const { sessionTimeoutMs } = this.#settings;
    const parts = { kafka: this.#kafka, admin: this.#admin, sessionTimeoutMs, logger: this.#logger };
    const consumer = new KafkaConsumer(parts, options);
    this.#consumers.add(consumer);
    const forget = () => void this.#consumers.delete(consumer);
    consumer.closed.then(forget, forget);
    try {
      await consumer.start();
      return consumer;
    } catch (error) {
      await consumer.close();
      throw error;
    }
  }

  async *follow(topic: string, positions: Positions, options: FollowOptions): AsyncIterable<FollowedPage> {
    const extents = await this.extent(topic);
    if (extents.size === 0) throw new BrokerUnavailable(`there is no topic ${topic}`);
    for (const [partition, position] of positions) {
      const extent = extents.get(partition) ?? { first: 0, next: -1 };
      await assertSameTopic(this, { topic, partition }, position, extent);
    }
    const begun = new Map<number, Position>();
    for (const [partition, { first }] of extents) {
      const { offset, before } = positions.get(partition) ?? { offset: first, before: null };
      begun.set(partition, { offset: Math.max(offset, first), before });
    }
    const parts = {
      kafka: this.#kafka,
      topic,
      skips: (batch: UnreadableBatch) => this.#logger.warn(batch, SKIPPING),
      ending: (end: Promise<void>) => {
        this.#endings.add(end);
        void end.then(() => this.#endings.delete(end));
      },
    };
    const signal = AbortSignal.any([options.signal, this.#stopping.signal]);
    yield* new Follower(parts, begun, { ...options, signal }).pages();
    if (!options.signal.aborted) this.#mustBeOpen();
  }

  async read(topic: string, partition: number, offset: number): Promise<ReceivedRecord | null> {
    this.#mustBeOpen();
    return this.#places.read({ topic, partition, offset });
  }

  async committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    this.#mustBeOpen();
    const starts = (await this.#admin.groupStart(group, [topic])).get(topic) ?? [];
    return new Map(
      [...starts].flatMap(([at, { committed }]) => (committed === null ? [] : [[at, committed] as const])),
    );
  }

  async completedAhead(group: string, topic: string): Promise<ReadonlyMap<number, CompletedAhead>> {
    this.#mustBeOpen();
    const starts = (await this.#admin.groupStart(group, [topic])).get(topic) ?? [];
    return new Map([...starts].flatMap(([at, { behind }]) => (behind ? [[at, behind] as const] : [])));
  }

  async extent(topic: string): Promise<ReadonlyMap<number, Extent>> {
    this.#mustBeOpen();
    return this.#admin.extent(topic);
  }

  async listTopics(): Promise<string[]> {
    this.#mustBeOpen();
    return this.#admin.list();
  }

  async ensureTopics(topics: readonly string[]): Promise<void> {
    this.#mustBeOpen();
    await this.#admin.ensure(topics);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
    await Promise.all([this.#publisher.close(), this.#places.close(), ...this.#endings]);
  }

  #mustBeOpen(): void {
    if (this.#closing) throw new BrokerUnavailable('the broker is closed');
  }
}

function refused(topic: string, records: readonly NewRecord[], error: RecordRefused): RecordRefused {
  const { message, cause } = error;
  if (error instanceof TimestampRefused) return new TimestampRefused(wrongClockText(topic), { cause });
  const bytes = Math.max(...records.map(sizeOf));
  return new RecordRefused(`${topic} refuses the record (${message}): it has about ${bytes} bytes`, { cause });
}

function wrongClockText(topic: string): string {
  const now = new Date().toISOString();
  return `the clock of this machine (${now}) is too far from those of the brokers: ${topic} rejects its records (INVALID_TIMESTAMP); set it by NTP`;
}

export function connection(
  { brokers, ssl, sasl }: KafkaSettings,
  logger: Logger,
  { answerMs }: KafkaLimits = KAFKA_LIMITS,
): Kafka {
  installRepairs();
  const settings = {
    clientId: CLIENT_ID,
    brokers: [...brokers],
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl }),
    connectionTimeout: 3_000,
    requestTimeout: answerMs,
    logLevel: kafkajs.logLevel.WARN,
    // kafkajs logs errors that it recovers from a moment later; those that it can't recover from reach us as errors.
    logCreator:
      () =>
      ({ namespace, log: { message, ...about } }) =>
        logger.debug({ kafkajs: namespace, broker: about.broker, error: about.error }, message),
  } satisfies KafkaConfig;
  return withOwnSockets((socketFactory) => new kafkajs.Kafka({ ...settings, socketFactory }));
}
