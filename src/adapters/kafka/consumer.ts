/**
 * A consumer of Kafka: a member of the group fetches, lanes queue fetched records, and the handler's promises decide what is
 * done. Only the contiguous done prefix of a partition is committed.
 *
 *   working -> stopping -> closed       (stop: nothing is handed out; close: drained, committed, left the group)
 *      \-> dead                         (Kafka refuses this consumer: `closed` rejects, the process must end)
 */
import type { ConsumeOptions, Consumer, ConsumerState } from '../../ports/broker.js';
import { OffsetKeeper } from '../common/offset-keeper.js';
import { RecordPump } from '../common/record-pump.js';
import { withinTime } from '../common/time-limit.js';
import { AssignedPartitions } from './assigned-partitions.js';
import type { KafkaConsumerParts } from './group-client.js';
import { GroupLease } from './group-lease.js';
import { GroupMember, type MemberListener } from './group-member.js';
import type { PartitionLane } from './partition-lane.js';
import { ProgressCommitter } from './progress-committer.js';

/** Before this member rejoins: time for started work to end. No other member then repeats it. */
const QUIET_WITHIN_MS = 1_000;
/** Likewise, for the commit. Both are far below the session timeout. */
const HAND_OVER_WITHIN_MS = 1_000;
const COMMIT_WITHIN_MS = 4_000;

export class KafkaConsumer implements Consumer {
  readonly closed: Promise<void>;
  readonly #member: GroupMember;
  readonly #pump: RecordPump;
  readonly #partitions: AssignedPartitions;
  readonly #offsets: OffsetKeeper<PartitionLane>;
  readonly #lease: GroupLease;
  #closing: Promise<void> | null = null;
  #settle: { resolve: () => void; reject: (error: Error) => void } | null = null;

  constructor(parts: KafkaConsumerParts, options: ConsumeOptions) {
    this.closed = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.closed.catch(() => undefined);
    this.#member = new GroupMember(parts, options, this.#listener());
    this.#lease = new GroupLease(parts.sessionTimeoutMs, () => this.#pump.pumpNextTurn());
    this.#pump = new RecordPump({ ...options, onDone: () => this.#offsets.keepSoon(), lease: this.#lease });
    this.#partitions = new AssignedPartitions(parts, options, this.#member, this.#pump, {
      placed: () => {
        this.#lease.joined();
        // Where a group begins is committed, too.
        this.#offsets.keepSoon();
      },
      refused: (error) => this.#refused(error),
    });
    const committer = new ProgressCommitter((offsets) => this.#member.commit(offsets), parts.logger, options.group);
    this.#offsets = new OffsetKeeper(
      // The offset of a group that takes no record would look like a lag.
      () => (options.inFlight > 0 ? this.#partitions.lanes() : []),
      (progress) => committer.commit([...progress].filter(([lane]) => this.#partitions.has(lane))),
    );
  }

  /** Fulfilled once started; if the group can't be joined yet, it is joined later. @throws errors of the port */
  start(): Promise<void> {
    return this.#member.start();
  }

  stop(): void {
    this.#member.stop();
    this.#pump.stop();
    this.#partitions.stop();
    this.#lease.stop();
  }

  isOwner(topic: string, partition: number): boolean {
    return this.#lease.holds && this.#partitions.owns({ topic, partition });
  }

  state(): ConsumerState {
    const { isMember: connected, foreign } = this.#member;
    return { connected, inHand: this.#pump.inHand, partitions: this.#partitions.states, foreign };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.stop();
    await this.#pump.drained();
    await this.#offsets.finish(COMMIT_WITHIN_MS);
    await this.#member.close();
    this.#settle?.resolve();
  }

  #listener(): MemberListener {
    return {
      joined: (memberId, assignment) => this.#partitions.joined(memberId, assignment),
      joining: () => this.#handOver(),
      heard: (sentMs) => this.#lease.renewed(sentMs),
      leaving: () => this.#releases(),
      received: (payload) => this.#partitions.received(payload),
      fetched: (answer) => this.#partitions.fetched(answer),
      refused: (error) => this.#refused(error),
    };
  }

  #refused(error: Error): void {
    this.stop();
    this.#settle?.reject(error);
  }

  /** Other members may get its partitions next: nothing new is started, started work may end, progress is committed. */
  async #handOver(): Promise<void> {
    const { holds } = this.#lease;
    this.#releases();
    if (!holds) return;
    await withinTime(QUIET_WITHIN_MS, this.#pump.quiet()).catch(() => undefined);
    await withinTime(HAND_OVER_WITHIN_MS, this.#offsets.handOver()).catch(() => undefined);
  }

  /** What was asked about its partitions before is answered too late. */
  #releases(): void {
    this.#lease.joining();
    this.#partitions.joining();
  }
}
