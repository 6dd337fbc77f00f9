/**
 * The partitions assigned to this consumer, each with its lane, across all rejoins.
 *
 *   assigned -> paused, its offset being read -> open: a lane takes what is fetched -> assigned to another: dropped
 *                                                  \-> its topic is gone, or was recreated: created again if missing,
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
import type { KafkaConsumerParts } from './group-client.js';
import type { Assignment, GroupMember } from './group-member.js';
import { type FoundStart, GroupStarts } from './group-starts.js';
import type { Fetched } from './kafkajs-repairs/group-hooks.js';
import { keyOf, PartitionLane, type TopicPartition } from './partition-lane.js';
import { fromMessages } from './records.js';

export interface PartitionsListener {
  /** Called after a join, once it is known for each kept partition whether this consumer still owned it. */
  placed(): void;
  /** Called where a partition can't be begun for want of a permission: no retry helps. */
  refused(error: BrokerRefused): void;
}

const GONE = 'Kafka no longer has this topic: it is recreated if missing, and read from its start';
const MADE_ANEW = 'the topic was recreated while it was read: reading restarts at its start';
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
  readonly #starts: GroupStarts;
  /** Paused lanes that go on once the cause is gone. */
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
    this.#starts = new GroupStarts(parts.admin, options.group, {
      found: (starts) => this.#found(starts),
      failed: (error, logFields) => this.#failed(error, logFields),
    });
  }

  lanes(): Iterable<PartitionLane> {
    return this.#lanes.values();
  }

  get states(): readonly PartitionState[] {
    return [...[...this.#lanes.values()].map((lane) => lane.state), ...this.#starts.unopened];
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
    this.#starts.joined();
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

  #answered(lane: PartitionLane, { from, highWatermark, lastStableOffset, fault }: FetchedPartition): void {
    const end = Number(highWatermark);
    if (end >= 0) lane.sawEnd(end, Number(lastStableOffset));
    if (fault?.kind === 'no-topic') this.#beginAnew(lane, GONE);
    else if (fault?.kind === 'no-offset') void this.#wait(lane, () => this.#outOfRange(lane, from));
    else if (fault) this.#refused(lane, fault.reason);
    else if (end >= 0) lane.refusal = null;
  }

  /** Returns at once: kafkajs fetches nothing until then. Unresolved offsets are fetched again. */
  received({ batch, resolveOffset }: EachBatchPayload): void {
    const lane = this.#lanes.get(keyOf(batch));
    if (!lane || this.#stopping.signal.aborted) return;
    const fetchedOffset = Number((batch as unknown as { fetchedOffset: string }).fetchedOffset);
    if (Number(batch.highWatermark) < lane.next) this.#beginAnew(lane, MADE_ANEW);
    // It was fetched before a rejoin.
    else if (fetchedOffset > lane.next) this.#seek(lane);
    else {
      const items = fromMessages(batch, batch.messages).map((one) => laneItem(one, this.#options.notBefore));
      lane.receive(items, Number(batch.lastOffset()));
      resolveOffset(batch.lastOffset());
      this.#pump.pumpNextTurn();
    }
  }

  #refused(lane: PartitionLane, reason: string): void {
    const { topic, partition, next: offset } = lane;
    if (lane.refusal !== reason) {
      this.#parts.logger.error({ topic, partition, offset, reason }, 'reading a partition failed');
    }
    lane.refusal = reason;
    void this.#wait(lane, () => this.#pause());
  }

  /** Pauses the lane until the work is done, and longer if that failed; the other partitions are fetched. Never rejects. */
  async #wait(lane: PartitionLane, work: () => Promise<void>): Promise<void> {
    lane.pause();
    if (this.#waiting.has(lane)) return;
    this.#waiting.add(lane);
    const { topic, partition, next: offset } = lane;
    await work().catch((error: unknown) => {
      this.#failed(error, { topic, partition, offset });
      return this.#pause();
    });
    this.#waiting.delete(lane);
    if (this.has(lane) && !this.#stopping.signal.aborted) this.#goOn(lane);
  }

  #pause(): Promise<void> {
    return sleep(this.#parts.refusedAgainMs ?? REFUSED_AGAIN_MS, this.#stopping.signal);
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
    void this.#starts.find(places, this.#assignment.signal);
  }

  #found(starts: readonly FoundStart[]): void {
    for (const found of starts) this.#openLane(found);
    this.#setLanes();
    this.#reportPlaced();
  }

  #reportPlaced(): void {
    if (this.#former.size === 0) this.#on.placed();
  }

  #failed(error: unknown, logFields: object): void {
    if (this.#stopping.signal.aborted) return;
    if (error instanceof BrokerRefused) this.#on.refused(error);
    else this.#parts.logger.warn({ err: error, ...logFields }, 'partitions can not be read on yet; retrying');
  }

  /** Includes former lanes, of which nothing is handed out until ownership is known. */
  #setLanes(): void {
    this.#pump.setLanes([...this.#lanes.values(), ...this.#former.values()]);
  }

  #openLane({ place, start }: FoundStart): void {
    const key = keyOf(place);
    const former = this.#former.get(key);
    this.#former.delete(key);
    // Measured with Kafka unreachable for ten seconds: without this nearly all deliveries in progress were sent twice.
    const lane = former?.knows(start) ? former : new PartitionLane(place, start, this.#flow(place));
    this.#lanes.set(key, lane);
    this.#goOn(lane);
  }

  #flow({ topic, partition }: TopicPartition) {
    const topicPartitions = [{ topic, partitions: [partition] }];
    const pause = () => this.#client.pause(topicPartitions);
    // A consumer that takes no record fetches none.
    return { pause, resume: this.#options.inFlight > 0 ? () => this.#client.resume(topicPartitions) : pause };
  }

  /** The topic was deleted, and the group's offsets with it. Work in hand is never marked done: its offsets mean nothing. */
  #beginAnew({ topic, partition }: PartitionLane, why: string): void {
    const place = { topic, partition };
    this.#parts.logger.error(place, why);
    this.#lanes.delete(keyOf(place));
    this.#begin([place]);
  }

  /** Retention, or a recreated topic whose log grew. @throws errors of the port */
  async #outOfRange(lane: PartitionLane, fetchedOffset: number): Promise<void> {
    const { topic, partition, next: expected } = lane;
    const { signal } = this.#assignment;
    const { admin, logger } = this.#parts;
    const low = (await admin.extent(topic)).get(partition)?.first;
    if (low === undefined || signal.aborted || !this.has(lane)) return;
    if (fetchedOffset >= low) return this.#beginAnew(lane, MADE_ANEW);
    if (low <= expected) return;
    logger.error({ topic, partition, from: expected, to: low }, 'records were deleted before they were delivered');
    lane.skipTo(low);
  }
}
