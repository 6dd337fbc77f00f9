/**
 * A member of a consumer group, by kafkajs: joins, fetches, commits, and goes on whatever becomes of Kafka.
 *
 *   joining -> working -> joining ...        (a rebalance)
 *      \          \-> crashed -> joining     (by kafkajs itself, or started again where it gave up)
 *       \          \-> silent -> joining     (no sign of life for too long: another client takes its place)
 *        \-> refused                         (no new try mends it)
 */
import type {
  EachBatchPayload,
  Kafka,
  Consumer as KafkaClient,
  TopicPartitionOffset,
  TopicPartitionOffsetAndMetadata,
  TopicPartitions,
} from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerRefused } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import { beforeJoin } from './before-join.js';
import { isCoordinatorMissing, isUnknownTopic, translated } from './kafka-errors.js';
import { disconnectAfter } from './let-go.js';
import { onceKnown } from './once-known.js';
import type { Assignment } from './places.js';
import { subscribersAssigner } from './subscribers-assigner.js';
import type { TopicAdmin } from './topic-admin.js';

export interface GroupMemberParts {
  readonly kafka: Kafka;
  readonly admin: TopicAdmin;
  readonly logger: Logger;
  readonly group: string;
  readonly topics: readonly string[];
  readonly sessionTimeoutMs: number;
  /** Without a sign of life for so long a client is given up; SILENT_MS without it. */
  readonly silentMs?: number;
  readonly on: {
    /** Of the member id, and of what it has from now on. */
    joined(memberId: string, assignment: Assignment): void;
    /**
     * Before each request to join, which waits for it; must not reject. From that request on others may be given what this
     * member has. Until the join is complete the group still takes, from the generation that ends, what it has done.
     */
    joining(): Promise<void>;
    /** The group took this member for alive, by what was sent so long ago. */
    heard(sentMs: number): void;
    /** It leaves: others are given what it has. */
    leaving(): void;
    received(payload: EachBatchPayload): void;
    refused(error: Error): void;
  };
}

/** Waited for at most, when Kafka does not answer while a client leaves; a rebalance may last as long. */
const LEAVE_WITHIN_MS = 4_000;
const START_AGAIN_MS = 1_000;
/** How long a client that is on its way into the group is waited for, before it is told to leave all the same. */
const ARRIVE_WITHIN_MS = 2_000;
/** How long the others wait for a member that does not join again: they do within a heartbeat. */
const REBALANCE_MS = 15_000;
/** Requests that tell the group that a member is alive. */
const OF_SESSION: ReadonlySet<string> = new Set(['Heartbeat', 'SyncGroup']);
/** A client that works fetches all the time, ten times a second where everything is paused; or it joins. */
const SILENT_MS = 30_000;

export class GroupMember {
  readonly #parts: GroupMemberParts;
  #client: KafkaClient;
  #isMember = false;
  /** Counts the commits that Kafka took. */
  #committed = 0;
  #lastSign = performance.now();
  /** When the last request that tells that this member is alive was sent, of those that were answered. */
  #toldAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #startAgain: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #starting: Promise<void> = Promise.resolve();
  /**
   * Hazard: a client that is told to leave between its start and its first fetch forgets its runner, which goes on for ever.
   * So its first fetch, or its end, is waited for.
   */
  #isOnItsWay = false;
  #arrived: () => void = () => undefined;

  constructor(parts: GroupMemberParts) {
    this.#parts = parts;
    this.#client = this.#connection();
  }

  /** False until the first join, and after a crash. */
  get isMember(): boolean {
    return this.#isMember;
  }

  /** Fulfilled once it has begun; a group that can't be joined just now is joined later. @throws errors of the port */
  async start(): Promise<void> {
    const { silentMs = SILENT_MS } = this.#parts;
    this.#watch ??= setInterval(() => this.#look(silentMs), silentMs / 10);
    await this.#begin();
  }

  pause(topics: TopicPartitions[]): void {
    this.#whileInGroup((client) => client.pause(topics));
  }

  resume(topics: TopicPartitions[]): void {
    this.#whileInGroup((client) => client.resume(topics));
  }

  seek(place: TopicPartitionOffset): void {
    this.#whileInGroup((client) => client.seek(place));
  }

  /** @throws where Kafka did not take it */
  async commit(offsets: readonly TopicPartitionOffsetAndMetadata[]): Promise<void> {
    if (!this.#isMember) throw new Error('the consumer is not in its group');
    const before = this.#committed;
    await this.#client.commitOffsets([...offsets]);
    // Hazard: while kafkajs is not fetching, as on its way to a crash, it drops a commit, or its error, and says nothing.
    if (offsets.length > 0 && this.#committed === before) throw new Error('the commit was dropped');
  }

  /** It goes on fetching until it is closed, but nothing is started again. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#startAgain);
    clearInterval(this.#watch);
  }

  async close(): Promise<void> {
    this.stop();
    const left = this.#starting.then(() => this.#arrival()).then(() => this.#client.disconnect());
    await withinTime(LEAVE_WITHIN_MS, left).catch(() => undefined);
  }

  async #arrival(): Promise<void> {
    if (!this.#isOnItsWay) return;
    const arrived = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    await withinTime(ARRIVE_WITHIN_MS, arrived).catch(() => undefined);
  }

  #hasArrived(): void {
    this.#isOnItsWay = false;
    this.#arrived();
  }

  /** Hazard: from a crash to its next join kafkajs throws at these. A join has all of it told again. */
  #whileInGroup(tell: (client: KafkaClient) => void): void {
    try {
      tell(this.#client);
    } catch (error) {
      this.#parts.logger.debug({ err: error }, 'the consumer is not in its group');
    }
  }

  async #begin(): Promise<void> {
    const client = this.#client;
    this.#isOnItsWay = true;
    try {
      await client.connect();
      await onceKnown(() => client.subscribe({ topics: [...this.#parts.topics], fromBeginning: true }));
      await client.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => {
          if (client === this.#client) this.#parts.on.received(payload);
        },
      });
    } catch (error) {
      this.#hasArrived();
      throw translated(error);
    }
  }

  #connection(): KafkaClient {
    const { kafka, admin, group, sessionTimeoutMs } = this.#parts;
    const partitionsOf = async (topic: string) => (await admin.offsets(topic)).map(({ partition }) => partition);
    const joining = () => (client === this.#client ? this.#parts.on.joining() : Promise.resolve());
    const client: KafkaClient = kafka.consumer({
      groupId: group,
      sessionTimeout: sessionTimeoutMs,
      heartbeatInterval: Math.floor(sessionTimeoutMs / 5),
      rebalanceTimeout: REBALANCE_MS,
      maxWaitTimeInMs: 100,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      partitionAssigners: [subscribersAssigner(partitionsOf, (cluster) => beforeJoin(cluster, joining))],
      retry: { restartOnFailure: async (error) => !this.#stopped && !(translated(error) instanceof BrokerRefused) },
    });
    this.#listen(client);
    return client;
  }

  /** To a client, for as long as it is the one. */
  #listen(client: KafkaClient): void {
    const { events } = client;
    const alive = (listener: () => void) => {
      if (client !== this.#client) return;
      this.#lastSign = performance.now();
      listener();
    };
    client.on(events.GROUP_JOIN, ({ payload }) => alive(() => this.#joined(payload)));
    client.on(events.FETCH_START, () => alive(() => this.#hasArrived()));
    client.on(events.REQUEST, ({ payload: { apiName, duration } }) => {
      if (client === this.#client && OF_SESSION.has(apiName)) this.#toldAt = performance.now() - Math.max(0, duration);
    });
    client.on(events.REBALANCING, () => alive(() => undefined));
    client.on(events.HEARTBEAT, () => alive(() => this.#heard()));
    client.on(events.COMMIT_OFFSETS, () =>
      alive(() => {
        this.#committed += 1;
      }),
    );
    client.on(events.CRASH, ({ payload }) => alive(() => this.#crashed(payload.error, payload.restart)));
  }

  #joined({ memberId, memberAssignment }: { memberId: string; memberAssignment: Record<string, number[]> }): void {
    this.#isMember = true;
    const { logger, group, on } = this.#parts;
    logger.info({ group, assignment: memberAssignment }, 'partitions were assigned');
    this.#heard();
    on.joined(memberId, memberAssignment);
  }

  #heard(): void {
    this.#parts.on.heard(performance.now() - this.#toldAt);
  }

  #crashed(error: Error, restarts: boolean): void {
    this.#isMember = false;
    this.#parts.on.leaving();
    if (restarts) this.#isOnItsWay = true;
    else this.#hasArrived();
    const { logger, group, on } = this.#parts;
    const again = restarts || isCoordinatorMissing(error);
    if (again) logger.warn({ err: error, group }, 'the consumer lost Kafka; retrying');
    if (isUnknownTopic(error)) this.#makeTopicsAnew();
    if (again && !restarts) this.#startAgainSoon();
    if (!again && !this.#stopped) on.refused(translated(error));
  }

  /** Where kafkajs itself would not. */
  #startAgainSoon(): void {
    if (this.#stopped) return;
    clearTimeout(this.#startAgain);
    this.#startAgain = setTimeout(() => {
      this.#lastSign = performance.now();
      this.#starting = this.#begin().catch((error: Error) => {
        if (error instanceof BrokerRefused) this.#crashed(error, false);
        else this.#startAgainSoon();
      });
    }, START_AGAIN_MS);
  }

  /**
   * Hazard: a client of kafkajs whose connections were cut may wait for ever for an answer that it no longer listens for;
   * it tells nobody, and its partitions are read by nobody. Seen once in ten cuts of ten seconds.
   */
  #look(silentMs: number): void {
    if (performance.now() - this.#lastSign < silentMs) return;
    const { logger, group } = this.#parts;
    logger.warn({ group }, 'the consumer stopped responding and is replaced');
    const silent = this.#client;
    this.#isMember = false;
    this.#parts.on.leaving();
    this.#lastSign = performance.now();
    this.#client = this.#connection();
    void silent.disconnect().catch(() => undefined);
    void disconnectAfter([this.#starting], silent);
    this.#startAgainSoon();
  }

  /** One of them was deleted, and without it the group can't be joined. */
  #makeTopicsAnew(): void {
    const { admin, logger, topics } = this.#parts;
    for (const topic of topics) admin.forget(topic);
    admin.ensure([...topics]).catch((error: unknown) => logger.warn({ err: error }, 'the topics are unavailable'));
  }
}
