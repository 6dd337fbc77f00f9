/**
 * A consumer of Kafka: kafkajs fetches, lanes keep what was fetched, and the handler's promises say what is done. Only
 * the contiguous done prefix of a partition is committed.
 *
 *   joining -> working -> joining ...          (a rebalance; the lanes of partitions that stay, stay)
 *      \          \-> stopping -> closed       (stop: nothing is handed out; close: drained, committed, left the group)
 *       \-> dead                               (no new try mends it: `closed` is rejected, the process has to end)
 */
import type { Kafka, Consumer as KafkaClient } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerRefused, type ConsumeOptions, type Consumer } from '../../ports/broker.js';
import { HandOut } from '../common/hand-out.js';
import { OffsetKeeper } from '../common/offset-keeper.js';
import { withinTime } from '../common/time-limit.js';
import { AssignedPartitions } from './assigned-partitions.js';
import { isCoordinatorMissing, isUnknownTopic, translated } from './kafka-errors.js';
import type { PartitionLane } from './partition-lane.js';
import { subscribersAssigner } from './subscribers-assigner.js';
import type { TopicAdmin } from './topic-admin.js';

export interface KafkaConsumerParts {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly sessionTimeoutMs: number;
  readonly logger: Logger;
}

/** Waited for at most, when Kafka does not answer while a consumer closes; a rebalance may last as long. */
const LEAVE_WITHIN_MS = 4_000;
const START_AGAIN_MS = 1_000;

export class KafkaConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #parts: KafkaConsumerParts;
  readonly #options: ConsumeOptions;
  readonly #topics: readonly string[];
  readonly #client: KafkaClient;
  readonly #handOut: HandOut;
  readonly #partitions: AssignedPartitions;
  readonly #offsets: OffsetKeeper<PartitionLane>;
  /** False until the first join, and after a crash. */
  #member = false;
  /** Counts the commits that Kafka took. */
  #committed = 0;
  #stopped = false;
  #startAgain: NodeJS.Timeout | undefined;
  #starting: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null;

  constructor(parts: KafkaConsumerParts, options: ConsumeOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#topics = [...new Set(options.topics)];
    this.closed = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.closed.catch(() => undefined);
    this.#client = this.#connection();
    this.#handOut = new HandOut({ ...options, onDone: () => this.#offsets.keepSoon() });
    this.#partitions = new AssignedPartitions({ ...parts, client: this.#client, handOut: this.#handOut, options });
    this.#offsets = new OffsetKeeper(
      () => this.#partitions.lanes(),
      (offsets) => this.#commit(offsets),
    );
  }

  /** Fulfilled once it has begun; a group that can't be joined just now is joined later. @throws errors of the port */
  async start(): Promise<void> {
    try {
      await this.#client.connect();
      await this.#client.subscribe({ topics: [...this.#topics], fromBeginning: true });
      await this.#client.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => this.#partitions.received(payload),
      });
    } catch (error) {
      throw translated(error);
    }
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#startAgain);
    this.#handOut.stop();
    this.#partitions.stop();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.stop();
    await this.#handOut.drained();
    await this.#offsets.finish(LEAVE_WITHIN_MS);
    const left = this.#starting.then(() => this.#client.disconnect());
    await withinTime(LEAVE_WITHIN_MS, left).catch(() => undefined);
    this.#settle?.resolve();
  }

  #connection(): KafkaClient {
    const { kafka, admin, sessionTimeoutMs } = this.#parts;
    const partitionsOf = async (topic: string) => (await admin.offsets(topic)).map(({ partition }) => partition);
    const client = kafka.consumer({
      groupId: this.#options.group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / 5),
      rebalanceTimeout: 60_000,
      maxWaitTimeInMs: 100,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      partitionAssigners: [subscribersAssigner(partitionsOf)],
      retry: { restartOnFailure: async (error) => !this.#stopped && !(translated(error) instanceof BrokerRefused) },
    });
    client.on(client.events.GROUP_JOIN, ({ payload }) => this.#joined(payload));
    client.on(client.events.START_BATCH_PROCESS, ({ payload: batch }) => {
      const first = Number(batch.firstOffset ?? batch.lastOffset);
      if (batch.batchSize === 0) this.#partitions.passedOver(batch, first, Number(batch.lastOffset));
    });
    // Until the join is complete the group still takes, from the generation that ends, what this member has done.
    client.on(client.events.REBALANCING, () => this.#offsets.keepNow());
    client.on(client.events.COMMIT_OFFSETS, () => {
      this.#committed += 1;
    });
    client.on(client.events.CRASH, ({ payload }) => this.#crashed(payload.error, payload.restart));
    return client;
  }

  #joined({ memberId, memberAssignment }: { memberId: string; memberAssignment: Record<string, number[]> }): void {
    this.#member = true;
    this.#parts.logger.info({ group: this.#options.group, assignment: memberAssignment }, 'partitions were assigned');
    this.#partitions.joined(memberId, memberAssignment);
  }

  async #commit(offsets: ReadonlyMap<PartitionLane, number>): Promise<void> {
    if (!this.#member) throw new Error('this consumer is in no group now');
    const owned = [...offsets].filter(([lane]) => this.#partitions.has(lane));
    const before = this.#committed;
    await this.#client.commitOffsets(
      owned.map(([{ topic, partition }, offset]) => ({ topic, partition, offset: String(offset) })),
    );
    // Hazard: while kafkajs is not fetching, as on its way to a crash, it drops a commit, or its error, and says nothing.
    if (owned.length > 0 && this.#committed === before) throw new Error('the commit was dropped');
  }

  #crashed(error: Error, restarts: boolean): void {
    this.#member = false;
    const { logger } = this.#parts;
    const again = restarts || isCoordinatorMissing(error);
    if (again) logger.warn({ err: error, group: this.#options.group }, 'the consumer lost Kafka; it tries again');
    if (isUnknownTopic(error)) this.#makeTopicsAnew();
    if (again && !restarts) this.#startAgainSoon();
    if (again || this.#closing) return;
    this.stop();
    this.#settle?.reject(translated(error));
  }

  /** Where kafkajs itself would not. */
  #startAgainSoon(): void {
    if (this.#stopped) return;
    this.#startAgain = setTimeout(() => {
      this.#starting = this.start().catch((error: Error) => {
        if (error instanceof BrokerRefused) this.#crashed(error, false);
        else this.#startAgainSoon();
      });
    }, START_AGAIN_MS);
  }

  /** One of them was deleted, and without it the group can't be joined. */
  #makeTopicsAnew(): void {
    const { admin, logger } = this.#parts;
    for (const topic of this.#topics) admin.forget(topic);
    admin.ensure(this.#topics).catch((error: unknown) => logger.warn({ err: error }, 'the topics are out of reach'));
  }
}
