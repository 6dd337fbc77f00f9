/**
 * A consumer of Kafka: kafkajs fetches, lanes keep what was fetched, and the handler's promises say what is done. Only
 * the contiguous done prefix of a partition is committed.
 *
 *   joining -> working -> joining ...          (a rebalance; the lanes of partitions that stay, stay)
 *      \          \-> stopping -> closed       (stop: nothing is handed out; close: drained, committed, left the group)
 *       \-> dead                               (kafkajs gave up: `closed` is rejected, the process has to end)
 *
 * Hazard: kafkajs goes back to the committed offsets at each rejoin, tells nobody which partitions it lost, and may
 * bring batches that were fetched before the rejoin. So a partition's start is asked for at each join, and a batch is
 * taken only where it continues what the lane has: see #received.
 */
import type { EachBatchPayload, Kafka, Consumer as KafkaClient } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import type { ConsumeOptions, Consumer } from '../../ports/broker.js';
import { HandOut } from '../common/hand-out.js';
import { OffsetKeeper } from '../common/offset-keeper.js';
import { withinTime } from '../common/time-limit.js';
import { translated } from './kafka-errors.js';
import { PartitionLane } from './partition-lane.js';
import { fromMessage } from './records.js';
import type { TopicAdmin } from './topic-admin.js';

export interface KafkaConsumerParts {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly sessionTimeoutMs: number;
  readonly logger: Logger;
}

type Assignment = Readonly<Record<string, readonly number[]>>;

/** Waited for at most, when Kafka does not answer while a consumer closes. */
const LEAVE_WITHIN_MS = 4_000;
const ASK_AGAIN_MS = 500;

export class KafkaConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #parts: KafkaConsumerParts;
  readonly #options: ConsumeOptions;
  readonly #topics: readonly string[];
  readonly #client: KafkaClient;
  readonly #handOut: HandOut;
  readonly #offsets: OffsetKeeper<PartitionLane>;
  readonly #lanes = new Map<string, PartitionLane>();
  readonly #asking = new Set<NodeJS.Timeout>();
  #memberId = '';
  /** Counts the joins: what was asked for before the last one is not looked at. */
  #join = 0;
  /** False until the first join, and after a crash. */
  #member = false;
  #stopped = false;
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
    this.#handOut = new HandOut({ ...options, onDone: () => this.#offsets.keepSoon() });
    this.#offsets = new OffsetKeeper(
      () => this.#lanes.values(),
      (offsets) => this.#commit(offsets),
    );
    this.#client = this.#connection();
  }

  /** Fulfilled once it has begun; a group that can't be joined just now is joined later. @throws errors of the port */
  async start(): Promise<void> {
    try {
      await this.#client.connect();
      await this.#client.subscribe({ topics: [...this.#topics], fromBeginning: true });
      await this.#client.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => this.#received(payload),
      });
    } catch (error) {
      throw translated(error);
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#handOut.stop();
    for (const timer of this.#asking) clearTimeout(timer);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.stop();
    await this.#handOut.drained();
    this.#offsets.stop();
    await withinTime(LEAVE_WITHIN_MS, this.#offsets.keepNow()).catch(() => undefined);
    await withinTime(LEAVE_WITHIN_MS, this.#client.disconnect()).catch(() => undefined);
    this.#settle?.resolve();
  }

  #connection(): KafkaClient {
    const { kafka, sessionTimeoutMs } = this.#parts;
    const client = kafka.consumer({
      groupId: this.#options.group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / 5),
      rebalanceTimeout: 60_000,
      maxWaitTimeInMs: 100,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      retry: { restartOnFailure: async () => !this.#stopped },
    });
    client.on(client.events.GROUP_JOIN, ({ payload }) => this.#joined(payload.memberId, payload.memberAssignment));
    client.on(client.events.START_BATCH_PROCESS, ({ payload }) => this.#passedOver(payload));
    client.on(client.events.REBALANCING, () => this.#rejoining());
    client.on(client.events.CRASH, ({ payload }) => this.#crashed(payload.error, payload.restart));
    return client;
  }

  /** Until the join is complete the group still takes, from the generation that ends, what this member has done. */
  #rejoining(): void {
    void this.#offsets.keepNow();
  }

  #joined(memberId: string, assignment: Assignment): void {
    this.#join += 1;
    // A new member id: this member was thought dead, and others may have had its partitions meanwhile.
    if (memberId !== this.#memberId) this.#lanes.clear();
    this.#memberId = memberId;
    this.#member = true;
    for (const [key, { topic, partition }] of this.#lanes) {
      if (!assignment[topic]?.includes(partition)) this.#lanes.delete(key);
    }
    this.#parts.logger.info({ group: this.#options.group, assignment }, 'partitions were assigned');
    this.#client.resume(
      Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions: [...partitions] })),
    );
    for (const lane of this.#lanes.values()) lane.regulate(true);
    this.#handOut.setLanes(this.#lanes.values());
    void this.#openLanes(assignment, this.#join);
  }

  /** For the partitions that are new here, from where the group stands. */
  async #openLanes(assignment: Assignment, join: number): Promise<void> {
    const places = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions
        .filter((partition) => !this.#lanes.has(keyOf(topic, partition)))
        .map((partition) => ({ topic, partition })),
    );
    if (places.length === 0) return;
    try {
      const topics = [...new Set(places.map(({ topic }) => topic))];
      const starts = await this.#parts.admin.groupStart(this.#options.group, topics);
      if (join !== this.#join || this.#stopped) return;
      for (const place of places)
        this.#openLane({ ...place, start: starts.get(place.topic)?.get(place.partition) ?? 0 });
      this.#handOut.setLanes(this.#lanes.values());
    } catch (error) {
      this.#parts.logger.warn({ err: error, group: this.#options.group }, 'the offsets of the group are out of reach');
      this.#askAgain(() => this.#openLanes(assignment, join), join);
    }
  }

  #askAgain(ask: () => Promise<void>, join: number): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#asking.delete(timer);
      if (join === this.#join) void ask();
    }, ASK_AGAIN_MS);
    this.#asking.add(timer);
  }

  #openLane(place: { topic: string; partition: number; start: number }): void {
    const { topic, partition } = place;
    const topicPartitions = [{ topic, partitions: [partition] }];
    const flow = {
      pause: () => this.#client.pause(topicPartitions),
      resume: () => this.#client.resume(topicPartitions),
    };
    this.#lanes.set(keyOf(topic, partition), new PartitionLane(place, flow));
    // Whatever came before the lane was there is fetched (again) from here.
    this.#client.seek({ topic, partition, offset: String(place.start) });
  }

  /** Returns at once: kafkajs fetches nothing more before that. What is not resolved comes again. */
  #received({ batch, resolveOffset }: EachBatchPayload): void {
    const { topic, partition } = batch;
    const lane = this.#lanes.get(keyOf(topic, partition));
    if (!lane || this.#stopped) return;
    const fetchedOffset = Number((batch as unknown as { fetchedOffset: string }).fetchedOffset);
    if (Number(batch.highWatermark) < lane.next) {
      this.#beginAnew(lane);
      return;
    }
    if (fetchedOffset > lane.next) {
      this.#goBack(lane, Number(batch.firstOffset()));
      return;
    }
    const { notBefore = () => 0 } = this.#options;
    const records = batch.messages.map((message) => fromMessage(topic, partition, message));
    lane.receive(
      records.map((record) => ({ record, due: notBefore(record) })),
      Number(batch.lastOffset()),
    );
    resolveOffset(batch.lastOffset());
    this.#handOut.pumpNextTurn();
  }

  /** A batch of aborted or control records only is kept from eachBatch by kafkajs, which goes on behind it by itself. */
  #passedOver(batch: { topic: string; partition: number; batchSize: number; firstOffset: string; lastOffset: string }) {
    const lane = this.#lanes.get(keyOf(batch.topic, batch.partition));
    if (lane && batch.batchSize === 0 && Number(batch.firstOffset ?? batch.lastOffset) <= lane.next) {
      lane.skipTo(Number(batch.lastOffset) + 1);
    }
  }

  /** The log is shorter than what was read of it: the topic was deleted and made again, and begins anew. */
  #beginAnew({ topic, partition }: PartitionLane): void {
    this.#parts.logger.error(
      { topic, partition },
      'the topic was made anew while it was read: it is read from its start',
    );
    this.#lanes.delete(keyOf(topic, partition));
    this.#handOut.setLanes(this.#lanes.values());
    void this.#openLanes({ [topic]: [partition] }, this.#join);
  }

  /** A batch that leaves something out: of before a rejoin, or retention has taken what should have come. */
  #goBack(lane: PartitionLane, firstOffset: number): void {
    const { topic, partition, next } = lane;
    const join = this.#join;
    this.#client.seek({ topic, partition, offset: String(next) });
    void this.#parts.admin.offsets(topic).then(
      (offsets) => {
        const low = offsets.find((entry) => entry.partition === partition)?.low ?? 0;
        if (join !== this.#join || low <= lane.next || low > firstOffset) return;
        this.#parts.logger.error(
          { topic, partition, from: next, to: low },
          'records were gone before they were delivered',
        );
        lane.skipTo(low);
      },
      () => undefined,
    );
  }

  async #commit(offsets: ReadonlyMap<PartitionLane, number>): Promise<void> {
    if (!this.#member) throw new Error('this consumer is in no group now');
    const owned = [...offsets].filter(([lane]) => this.#lanes.get(keyOf(lane.topic, lane.partition)) === lane);
    await this.#client.commitOffsets(
      owned.map(([{ topic, partition }, offset]) => ({ topic, partition, offset: String(offset) })),
    );
  }

  #crashed(error: Error, restarts: boolean): void {
    this.#member = false;
    const { logger } = this.#parts;
    if (restarts) logger.warn({ err: error, group: this.#options.group }, 'the consumer lost Kafka; it tries again');
    if (restarts || this.#closing) return;
    this.stop();
    this.#settle?.reject(translated(error));
  }
}

function keyOf(topic: string, partition: number): string {
  return `${partition} ${topic}`;
}
