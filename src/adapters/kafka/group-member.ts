/**
 * A member of a consumer group, based on kafkajs: joins, fetches, commits, and recovers from any failure of Kafka.
 *
 *   joining -> working -> joining ...        (a rebalance)
 *      \          \-> crashed -> joining     (by kafkajs itself, or restarted if kafkajs gave up)
 *       \          \-> stuck -> joining      (the group did not confirm it for too long: a new client replaces it)
 *        \-> refused                         (retrying won't help)
 */
import type {
  ConsumerGroupJoinEvent,
  EachBatchPayload,
  Consumer as KafkaClient,
  TopicPartitionOffset,
  TopicPartitionOffsetAndMetadata,
  TopicPartitions,
} from 'kafkajs';
import { BrokerRefused, type ConsumeOptions } from '../../ports/broker.js';
import { withinTime } from '../common/time-limit.js';
import { onceKnown } from './admin-session.js';
import { disconnectAfter } from './cluster-client.js';
import { describeForeign, isForeign, NEW_PROTOCOL, OTHER_PROTOCOL } from './foreign-members.js';
import { groupClient, type KafkaConsumerParts } from './group-client.js';
import { isCoordinatorMissing, isGroupTaken, isOwnFailure, isUnknownTopic, translated } from './kafka-errors.js';
import type { GroupHooks } from './kafkajs-repairs/group-hooks.js';

export type Assignment = Readonly<Record<string, readonly number[]>>;

export interface MemberListener extends Pick<GroupHooks, 'fetched'> {
  joined(memberId: string, assignment: Assignment): void;
  /**
   * Awaited before each join request; must not reject. From then on others may get the partitions; until the join completes
   * the group accepts commits of the ending generation.
   */
  joining(): Promise<void>;
  /** The group confirmed this member as alive, in answer to a request sent that long ago. */
  heard(sentMs: number): void;
  leaving(): void;
  received(payload: EachBatchPayload): void;
  refused(error: Error): void;
}

/** The longest wait for Kafka's answer while a client leaves; a rebalance may last as long. */
const LEAVE_WITHIN_MS = 4_000;
const START_AGAIN_MS = 1_000;
/** Requests that prove to the group that a member is alive. */
const OF_SESSION: ReadonlySet<string> = new Set(['Heartbeat', 'SyncGroup']);
/** A heartbeat confirms a working client every second; a rebalance takes 15 s and a few more. */
const STUCK_MS = 30_000;
/** Fraction of it: after that long without a confirmation the client counts as outside of the group. */
const OUTSIDE = 2 / 3;

export class GroupMember {
  readonly #parts: KafkaConsumerParts;
  readonly #options: ConsumeOptions;
  readonly #on: MemberListener;
  readonly #stuckMs: number;
  #client: KafkaClient;
  #isMember = false;
  /** Other applications in the group, a sentence each, as of the last join. */
  foreign: readonly string[] = [];
  /** As this member saw them when it divided the group's partitions as its leader. */
  #foreignMembers: readonly string[] = [];
  #committed = 0;
  /** When the group last confirmed it (by a heartbeat outside of joins), or it began to join. Fetches prove nothing. */
  #confirmedAt = performance.now();
  #isJoining = true;
  /** When the last answered request that proves this member alive was sent. */
  #toldAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #startAgain: NodeJS.Timeout | undefined;
  #watch: NodeJS.Timeout | undefined;
  #starting: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: KafkaConsumerParts, options: ConsumeOptions, on: MemberListener) {
    this.#parts = parts;
    this.#options = options;
    this.#on = on;
    this.#stuckMs = parts.stuckMs ?? STUCK_MS;
    this.#client = this.#connection();
  }

  /** False until the first join, after a crash, and while the group has long not confirmed this member. */
  get isMember(): boolean {
    return this.#isMember && this.#unconfirmedMs < OUTSIDE * this.#stuckMs;
  }

  get #unconfirmedMs(): number {
    return performance.now() - this.#confirmedAt;
  }

  /** Fulfilled once started; if the group can't be joined yet, it is joined later. @throws errors of the port */
  async start(): Promise<void> {
    this.#watch ??= setInterval(() => this.#look(), this.#stuckMs / 10);
    const begun = this.#begin();
    this.#starting = begun.catch(() => undefined);
    await begun;
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

  /** @throws if Kafka did not accept the commit */
  async commit(offsets: readonly TopicPartitionOffsetAndMetadata[]): Promise<void> {
    if (!this.#isMember) throw new Error('the consumer is not in its group');
    const before = this.#committed;
    await this.#client.commitOffsets([...offsets]);
    // Hazard: while kafkajs is not fetching, as just before a crash, it silently drops a commit, or its error.
    if (offsets.length > 0 && this.#committed === before) throw new Error('the commit was dropped');
  }

  /** The client fetches until it is closed, but nothing is restarted. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#startAgain);
    clearInterval(this.#watch);
  }

  async close(): Promise<void> {
    this.stop();
    const left = this.#starting.then(() => this.#client.disconnect());
    await withinTime(LEAVE_WITHIN_MS, left).catch(() => undefined);
    // Hazard: of a client that is just joining kafkajs forgets the runner, which runs on.
    this.#closed = true;
  }

  /** Hazard: from a crash to its next join kafkajs throws on these calls. A join repeats all of them. */
  #whileInGroup(tell: (client: KafkaClient) => void): void {
    try {
      tell(this.#client);
    } catch (error) {
      this.#parts.logger.debug({ err: error }, 'the consumer is not in its group');
    }
  }

  /** @throws errors of the port, unless the client was replaced meanwhile */
  async #begin(): Promise<void> {
    const client = this.#client;
    try {
      await client.connect();
      await onceKnown(() => client.subscribe({ topics: [...this.#options.topics], fromBeginning: true }));
      await client.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        eachBatch: async (payload) => {
          if (client === this.#client) this.#on.received(payload);
        },
      });
    } catch (error) {
      // Hazard: kafkajs considers a connection open on which its first request was not answered, and does not open another.
      await client.disconnect().catch(() => undefined);
      if (client !== this.#client) return;
      throw translated(error);
    }
  }

  #connection(): KafkaClient {
    const ifCurrent = (listener: () => void) => {
      if (client === this.#client) listener();
    };
    const client: KafkaClient = groupClient(this.#parts, this.#options, {
      joining: () => this.#joins(),
      divided: (memberIds) => ifCurrent(() => this.#divided(memberIds)),
      fetched: (answer) => ifCurrent(() => this.#on.fetched(answer)),
      isStopping: () => this.#stopped,
      isReplaced: () => this.#closed || client !== this.#client,
    });
    const { events } = client;
    client.on(events.GROUP_JOIN, ({ payload }) => ifCurrent(() => this.#joined(payload)));
    client.on(events.REQUEST, ({ payload }) => ifCurrent(() => this.#answered(payload)));
    client.on(events.HEARTBEAT, () => ifCurrent(() => this.#heard()));
    client.on(events.COMMIT_OFFSETS, () => {
      if (client === this.#client) this.#committed += 1;
    });
    client.on(events.CRASH, ({ payload }) => ifCurrent(() => this.#crashed(payload.error, payload.restart)));
    return client;
  }

  #divided(memberIds: readonly string[]): void {
    this.#foreignMembers = memberIds.filter(isForeign);
  }

  #joins(): Promise<void> {
    this.#isJoining = true;
    this.#foreignMembers = [];
    this.#confirmedAt = performance.now();
    return this.#on.joining();
  }

  #joined({ memberId, leaderId, memberAssignment }: ConsumerGroupJoinEvent['payload']): void {
    this.#isMember = true;
    this.#isJoining = false;
    const { group } = this.#options;
    this.#foundForeign(leaderId === '' ? [NEW_PROTOCOL] : this.#foreignMembers);
    this.#parts.logger.info({ group, assignment: memberAssignment }, 'partitions were assigned');
    this.#heard();
    this.#on.joined(memberId, memberAssignment);
  }

  #foundForeign(who: readonly string[]): void {
    const found = who.map((one) => describeForeign(this.#options.group, one));
    for (const says of found) if (!this.foreign.includes(says)) this.#parts.logger.error(says);
    this.foreign = found;
  }

  #answered({ apiName, duration }: { readonly apiName: string; readonly duration: number }): void {
    if (OF_SESSION.has(apiName)) this.#toldAt = performance.now() - Math.max(0, duration);
  }

  #heard(): void {
    if (!this.#isJoining) this.#confirmedAt = performance.now();
    this.#on.heard(performance.now() - this.#toldAt);
  }

  #crashed(error: Error, restarts: boolean): void {
    this.#isMember = false;
    this.#confirmedAt = performance.now();
    this.#on.leaving();
    const { admin, logger } = this.#parts;
    const { group } = this.#options;
    if (isGroupTaken(error)) this.#foundForeign([OTHER_PROTOCOL]);
    const again = restarts || isGroupTaken(error) || isCoordinatorMissing(error) || isOwnFailure(error);
    if (again) logger.warn({ err: error, group }, 'the consumer lost Kafka; retrying');
    // The group can't be joined without a topic that was deleted.
    if (isUnknownTopic(error)) void admin.ensureAgain([...this.#options.topics]);
    if (again && !restarts) this.#startAgainSoon();
    if (!again && !this.#stopped) this.#on.refused(translated(error));
  }

  #startAgainSoon(): void {
    if (this.#stopped) return;
    clearTimeout(this.#startAgain);
    this.#startAgain = setTimeout(() => {
      this.#starting = this.#startNow();
    }, START_AGAIN_MS);
  }

  async #startNow(): Promise<void> {
    clearTimeout(this.#startAgain);
    this.#confirmedAt = performance.now();
    try {
      await this.#begin();
    } catch (error) {
      if (error instanceof BrokerRefused) this.#crashed(error, false);
      else this.#startAgainSoon();
    }
  }

  /**
   * Hazard: a kafkajs client may wait forever after its connections were cut; no event reports that, and its partitions go
   * unread. Seen once in ten cuts of ten seconds.
   */
  #look(): void {
    if (this.#unconfirmedMs < this.#stuckMs) return;
    this.#parts.logger.warn({ group: this.#options.group }, 'the consumer is stuck and is replaced');
    const stuck = this.#client;
    this.#isMember = false;
    this.#on.leaving();
    this.#confirmedAt = performance.now();
    this.#client = this.#connection();
    void stuck.disconnect().catch(() => undefined);
    void disconnectAfter([this.#starting], stuck);
    this.#startAgainSoon();
  }
}
