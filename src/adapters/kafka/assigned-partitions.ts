/**
 * The partitions assigned to this consumer, each with its lane, across all rejoins.
 *
 *   assigned -> paused, its offset being read -> open: a lane takes what is fetched -> assigned to another: dropped
 *                                                  \-> its topic or the lane's offset is gone: created again if missing,
 *                                                  |   its offset being read again
 *                                                  \-> this member has a new id: its offset is read again, and the
 *                                                      lane goes on if no other consumer got further meanwhile
 *
 * Hazard: at a rejoin kafkajs goes back to the committed offsets, doesn't report lost partitions, and may pass on earlier
 * batches. So offsets are read at each join, and a batch is accepted only if it continues the lane: see received.
 */
import type { EachBatchPayload } from 'kafkajs';
import { BrokerRefused, type ConsumeOptions, type PartitionState } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';
import { laneItem } from '../common/record-lane.js';
import type { RecordPump } from '../common/record-pump.js';
import type { FetchedPartition } from './fetched/fetch-response.js';
import { reasonOf } from './fetched/marks.js';
import type { KafkaConsumerParts } from './group-client.js';
import type { Assignment, GroupMember } from './group-member.js';
import type { Fetched } from './kafkajs-repairs/group-hooks.js';
import { type GroupStart, keyOf, PartitionLane, type TopicPartition } from './partition-lane.js';
import { fromMessages } from './records.js';

export interface PartitionsListener {
  /** Called after a join, once it is known for each kept partition whether this consumer still owned it. */
  placed(): void;
  /** Called where a partition can't be begun for want of a permission: no retry helps. */
  refused(error: BrokerRefused): void;
}

const GONE = 'Kafka no longer has this topic: it is recreated if missing, and read from its start';
const NO_OFFSET = 'the topic has no such offset any more: records were deleted, or it was recreated';
const DELETED = 'records were deleted before they were delivered';
const ASK_AGAIN_MS = 500;
const REFUSED_AGAIN_MS = 5_000;

export class AssignedPartitions {
  readonly #parts: KafkaConsumerParts;
  readonly #options: ConsumeOptions;
  readonly #client: Pick<GroupMember, 'pause' | 'resume' | 'seek'>;
  readonly #pump: RecordPump;
  readonly #on: PartitionsListener;
  readonly #lanes = new Map<string, PartitionLane>();
  /** Lanes of partitions kept through a change of the member id, until the group's offsets are known. */
  readonly #former = new Map<string, PartitionLane>();
  /** Partitions of which it is not known where the group is. */
  readonly #unopened = new Map<string, PartitionState>();
  /** Paused lanes, which the broker can't read now. */
  readonly #waiting = new Set<PartitionLane>();
  readonly #stopping = new AbortController();
  /** Aborted as another join begins: answers to requests from before that are ignored. */
  #assignment = new AbortController();
  #memberId = '';

  constructor(
    parts: KafkaConsumerParts,
    options: ConsumeOptions,
    client: Pick<GroupMember, 'pause' | 'resume' | 'seek'>,
    pump: RecordPump,
    on: PartitionsListener,
  ) {
    this.#parts = parts;
    this.#options = options;
    this.#client = client;
    this.#pump = pump;
    this.#on = on;
  }

  lanes(): Iterable<PartitionLane> {
    return this.#lanes.values();
  }

  get states(): readonly PartitionState[] {
    return [...[...this.#lanes.values()].map((lane) => lane.state), ...this.#unopened.values()];
  }

  has(lane: PartitionLane): boolean {
    return this.#lanes.get(keyOf(lane)) === lane;
  }

  owns(place: TopicPartition): boolean {
    return !this.#stopping.signal.aborted && this.#lanes.has(keyOf(place));
  }

  stop(): void {
    this.#stopping.abort();
    this.#assignment.abort();
  }

  /** Another assignment follows, perhaps with the same partitions. */
  joining(): void {
    this.#assignment.abort();
  }

  joined(memberId: string, assignment: Assignment): void {
    this.#assignment.abort();
    this.#assignment = new AbortController();
    if (this.#stopping.signal.aborted) this.#assignment.abort();
    const places = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => ({ topic, partition })),
    );
    const assigned = new Set(places.map(keyOf));
    for (const key of this.#former.keys()) if (!assigned.has(key)) this.#former.delete(key);
    for (const [key, lane] of this.#lanes) {
      // A new member id: the group considered this member dead, and other members may have had its partitions meanwhile.
      const mayStay = memberId === this.#memberId;
      if (!mayStay && assigned.has(key)) this.#former.set(key, lane);
      if (!mayStay || !assigned.has(key)) this.#lanes.delete(key);
    }
    this.#memberId = memberId;
    this.#unopened.clear();
    for (const lane of this.#lanes.values()) lane.resume();
    this.#begin(places.filter((place) => !this.#lanes.has(keyOf(place))));
    this.#reportPlaced();
  }

  fetched({ responses }: Fetched): void {
    for (const { topicName: topic, partitions } of responses) {
      for (const fetched of partitions) {
        const lane = this.#lanes.get(keyOf({ topic, partition: fetched.partition }));
        if (lane) this.#answered(lane, fetched);
      }
    }
  }

  #answered(lane: PartitionLane, { from, highWatermark, fault }: FetchedPartition): void {
    const end = Number(highWatermark);
    if (end >= 0) lane.sawEnd(end);
    if (fault?.kind === 'no-topic') this.#beginAnew(lane, GONE);
    else if (fault?.kind === 'no-offset') void this.#outOfRange(lane, from);
    else if (fault) void this.#refused(lane, fault.reason);
    else if (end >= 0) lane.refusal = null;
  }

  /** Returns at once: kafkajs fetches nothing until then. Unresolved offsets are fetched again. */
  received({ batch, resolveOffset }: EachBatchPayload): void {
    const lane = this.#lanes.get(keyOf(batch));
    if (!lane || this.#stopping.signal.aborted) return;
    const fetchedOffset = Number((batch as unknown as { fetchedOffset: string }).fetchedOffset);
    if (Number(batch.highWatermark) < lane.next) this.#beginAnew(lane, NO_OFFSET);
    // It was fetched before a rejoin.
    else if (fetchedOffset > lane.next) this.#seek(lane);
    else if (this.#receive(lane, batch)) resolveOffset(batch.lastOffset());
  }

  /** @returns false if the batch is fetched again: its bytes may have been damaged on their way here */
  #receive(lane: PartitionLane, batch: EachBatchPayload['batch']): boolean {
    const items = fromMessages(batch, batch.messages).map((one) => laneItem(one, this.#options));
    const unreadable = items.find((item) => 'unreadable' in item)?.unreadable;
    if (unreadable && unreadable.digest !== lane.suspect) {
      lane.suspect = unreadable.digest;
      this.#seek(lane);
      return false;
    }
    lane.receive(items, Number(batch.lastOffset()));
    this.#pump.pumpNextTurn();
    return true;
  }

  /** Pauses the partition for a while; the others are fetched. Never rejects. */
  async #refused(lane: PartitionLane, reason: string): Promise<void> {
    const { topic, partition, next: offset } = lane;
    const { logger, refusedAgainMs = REFUSED_AGAIN_MS } = this.#parts;
    if (lane.refusal !== reason) logger.error({ topic, partition, offset, reason }, 'reading a partition failed');
    lane.refusal = reason;
    lane.pause();
    if (this.#waiting.has(lane)) return;
    this.#waiting.add(lane);
    await sleep(refusedAgainMs, this.#stopping.signal);
    this.#waiting.delete(lane);
    if (this.has(lane) && !this.#stopping.signal.aborted) this.#goOn(lane);
  }

  #seek({ topic, partition, next }: PartitionLane): void {
    this.#client.seek({ topic, partition, offset: String(next) });
  }

  #goOn(lane: PartitionLane): void {
    this.#seek(lane);
    lane.resume();
  }

  /** For partitions without a lane: nothing is fetched until their offsets are known. */
  #begin(places: readonly TopicPartition[]): void {
    for (const place of places) this.#flow(place).pause();
    this.#setLanes();
    void this.#open(places, this.#assignment.signal);
  }

  /** Never rejects: unavailable offsets are read again, until the signal aborts. */
  async #open(places: readonly TopicPartition[], signal: AbortSignal): Promise<void> {
    for (let left = places; left.length > 0 && !signal.aborted; ) {
      try {
        left = await this.#openKnown(left, signal);
      } catch (error) {
        // Another assignment follows.
        if (signal.aborted) return;
        this.#failed(error);
        const unreadable = { offset: 0, reason: reasonOf(error) };
        for (const place of left) this.#unopened.set(keyOf(place), { ...place, behind: 0, head: null, unreadable });
        const topics = [...new Set(left.map(({ topic }) => topic))];
        // Each topic by itself: one whose partitions have no leader must not delay the others.
        if (topics.length > 1) {
          const ofEach = topics.map((topic) => left.filter((place) => place.topic === topic));
          return void ofEach.map((places) => this.#open(places, signal));
        }
      }
      if (left.length > 0) await sleep(ASK_AGAIN_MS, signal);
    }
  }

  /** @returns those whose offset is not known yet @throws errors of the port */
  async #openKnown(places: readonly TopicPartition[], signal: AbortSignal): Promise<readonly TopicPartition[]> {
    const topics = [...new Set(places.map(({ topic }) => topic))];
    const starts = await this.#parts.admin.groupStart(this.#options.group, topics);
    if (signal.aborted) return [];
    const gone = topics.filter((topic) => !starts.has(topic));
    if (gone.length > 0) void this.#parts.admin.ensureAgain(gone);
    const startOf = ({ topic, partition }: TopicPartition) => starts.get(topic)?.get(partition);
    for (const place of places) this.#openLane(place, startOf(place));
    this.#setLanes();
    this.#reportPlaced();
    return places.filter((place) => startOf(place) === undefined);
  }

  #reportPlaced(): void {
    if (this.#former.size === 0) this.#on.placed();
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    const { group } = this.#options;
    if (error instanceof BrokerRefused) this.#on.refused(error);
    else this.#parts.logger.warn({ err: error, group }, 'the offsets of the group are not known yet; retrying');
  }

  /** Includes former lanes, of which nothing is handed out until ownership is known. */
  #setLanes(): void {
    this.#pump.setLanes([...this.#lanes.values(), ...this.#former.values()]);
  }

  #openLane(place: TopicPartition, start: GroupStart | undefined): void {
    if (!start) return;
    const key = keyOf(place);
    const former = this.#former.get(key);
    this.#former.delete(key);
    this.#unopened.delete(key);
    // Measured with Kafka unreachable for ten seconds: without this nearly all deliveries in progress were sent twice.
    const { turnsByKey } = this.#options;
    const lane = former?.knows(start) ? former : new PartitionLane(place, start, this.#flow(place), turnsByKey);
    this.#lanes.set(key, lane);
    this.#goOn(lane);
  }

  #flow({ topic, partition }: TopicPartition) {
    const topicPartitions = [{ topic, partitions: [partition] }];
    const pause = () => this.#client.pause(topicPartitions);
    // A consumer that takes no record fetches none.
    return { pause, resume: this.#options.inFlight > 0 ? () => this.#client.resume(topicPartitions) : pause };
  }

  /** Retention, a recreated topic, or kafkajs, which moves its own offset at a rejoin: what is in hand goes on where it can. */
  async #outOfRange(lane: PartitionLane, fetched: number): Promise<void> {
    const { topic, partition, next } = lane;
    const { signal } = this.#assignment;
    lane.pause();
    const extents = await this.#parts.admin.extent(topic).catch(() => null);
    if (signal.aborted || !this.has(lane)) return;
    const low = extents?.get(partition)?.first;
    if (low === undefined) return this.#refused(lane, NO_OFFSET);
    if (fetched >= low) return this.#beginAnew(lane, NO_OFFSET);
    if (low > next) this.#parts.logger.error({ topic, partition, from: next, to: low }, DELETED);
    lane.skipTo(low);
    this.#goOn(lane);
  }

  /** Where the group stands, or at the oldest record. Work in hand is never marked done: its offsets mean nothing. */
  #beginAnew({ topic, partition }: PartitionLane, why: string): void {
    const place = { topic, partition };
    this.#parts.logger.error(place, why);
    this.#lanes.delete(keyOf(place));
    this.#begin([place]);
  }
}
