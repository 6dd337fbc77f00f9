/**
 * The partitions assigned to this consumer, each with its lane, across all rejoins.
 *
 *   assigned -> paused, its offset being read -> open: a lane takes what is fetched -> assigned to another: dropped
 *                                                  \-> its topic is gone, or was recreated: created again if missing,
 *                                                  |   its offset being read again
 *                                                  \-> this member has a new id: its offset is read again, and the
 *                                                      lane goes on if no other consumer got further meanwhile
 *
 * Hazard: kafkajs goes back to the committed offsets at each rejoin, doesn't report which partitions it lost, and may pass
 * on batches fetched before the rejoin. So a partition's offset is read at each join, and a batch is accepted only if it
 * continues the lane: see received.
 */
import type { EachBatchPayload, Consumer as KafkaClient } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import { BrokerRefused, type ConsumeOptions, type PartitionState, type UnreadableBatch } from '../../ports/broker.js';
import { dueRecord, type LaneItem, type RecordPump } from '../common/record-pump.js';
import { lostIn, refusalIn } from './fetched/marks.js';
import { type FoundStart, GroupStarts } from './group-starts.js';
import type { Fetched } from './kafkajs-repairs/fetch-wait.js';
import { PartitionLane } from './partition-lane.js';
import { type Assignment, keyOf, type Place, placesOf } from './places.js';
import { fromMessages } from './records.js';
import type { TopicAdmin } from './topic-admin.js';

export interface AssignedPartitionsParts {
  readonly client: Pick<KafkaClient, 'pause' | 'resume' | 'seek'>;
  readonly admin: Pick<TopicAdmin, 'groupStart' | 'offsets' | 'forget' | 'ensure'>;
  readonly options: Pick<ConsumeOptions, 'group' | 'notBefore' | 'onStart'>;
  readonly pump: Pick<RecordPump, 'setLanes' | 'pumpNextTurn'>;
  readonly logger: Logger;
  /** Called after a join, once it is known for each kept partition whether this consumer still owned it. */
  readonly placed: () => void;
  /** Called where a partition can't be begun for want of a permission: no retry helps. */
  readonly refused: (error: BrokerRefused) => void;
  /** Reads the batch again. @returns whether its bytes are the same, and unreadable. @throws BrokerUnavailable */
  readonly isUnreadable: (batch: UnreadableBatch) => Promise<boolean>;
  /** Until a partition that the broker can't read is fetched again; REFUSED_AGAIN_MS without it. */
  readonly refusedAgainMs?: number;
}

const GONE = 'Kafka no longer has this topic: it is recreated if missing, and read from its start';
const MADE_ANEW = 'the topic was recreated while it was read: reading restarts at its start';
const REFUSED_AGAIN_MS = 5_000;

export class AssignedPartitions {
  readonly #parts: AssignedPartitionsParts;
  readonly #lanes = new Map<string, PartitionLane>();
  /** Lanes of partitions kept through a change of the member id, until the group's offsets are known. */
  readonly #former = new Map<string, PartitionLane>();
  readonly #starts: GroupStarts;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #retrying = new Set<PartitionLane>();
  #memberId = '';
  /** Changes as each join begins and ends: answers to requests from before that are ignored. */
  #join = 0;
  #stopped = false;

  constructor(parts: AssignedPartitionsParts) {
    this.#parts = parts;
    this.#starts = new GroupStarts({
      ...parts,
      found: (starts) => this.#found(starts),
      isCurrent: (join) => join === this.#join && !this.#stopped,
      failed: (error, about) => this.#failed(error, about),
      later: (ms, then) => this.#later(ms, then),
    });
  }

  lanes(): Iterable<PartitionLane> {
    return this.#lanes.values();
  }

  get states(): readonly PartitionState[] {
    return [...[...this.#lanes.values()].map((lane) => lane.state), ...this.#starts.unopened];
  }

  get foreign(): Iterable<string> {
    return this.#starts.foreign;
  }

  /** Whether this is still its partition's lane. */
  has(lane: PartitionLane): boolean {
    return this.#lanes.get(keyOf(lane)) === lane;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Another assignment follows, perhaps with the same partitions. */
  joining(): void {
    this.#join += 1;
  }

  joined(memberId: string, assignment: Assignment): void {
    this.#join += 1;
    const places = placesOf(assignment);
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
    for (const place of places) this.#flow(place).resume();
    for (const lane of this.#lanes.values()) lane.regulate(true);
    this.#begin(places.filter((place) => !this.#lanes.has(keyOf(place))));
    this.#tellPlaced();
  }

  #tellPlaced(): void {
    if (this.#former.size === 0) this.#parts.placed();
  }

  fetched({ responses }: Fetched): void {
    for (const { topicName: topic, partitions } of responses) {
      for (const { partition, highWatermark, lastStableOffset, messages } of partitions) {
        const lane = this.#lanes.get(keyOf({ topic, partition }));
        const end = Number(highWatermark);
        if (!lane || end < 0) continue;
        lane.sawEnd(end, Number(lastStableOffset));
        if (lane.isRefused && !refusalIn(messages)) lane.taken();
      }
    }
  }

  /** Returns at once: kafkajs fetches nothing until then. Unresolved offsets are fetched again. */
  received({ batch, resolveOffset }: EachBatchPayload): void {
    const lane = this.#lanes.get(keyOf(batch));
    if (!lane || this.#stopped) return;
    const fetchedOffset = Number((batch as unknown as { fetchedOffset: string }).fetchedOffset);
    const lost = lostIn(batch.messages);
    const refused = refusalIn(batch.messages);
    if (lost === 'topic') this.#beginAnew(lane, GONE);
    else if (lost === 'offset') void this.#outOfRange(lane, fetchedOffset);
    else if (refused) this.#refused(lane, refused.unreadable.reason);
    else if (Number(batch.highWatermark) < lane.next) this.#beginAnew(lane, MADE_ANEW);
    else if (fetchedOffset > lane.next) this.#goBack(lane, Number(batch.firstOffset()));
    else {
      const items = this.#itemsOf(lane, batch);
      const suspect = items.find((item) => 'unreadable' in item);
      if (suspect && suspect.unreadable.digest !== lane.unreadableDigest)
        return void this.#readAgain(lane, suspect.unreadable);
      lane.receive(items, Number(batch.lastOffset()));
      resolveOffset(batch.lastOffset());
      this.#parts.pump.pumpNextTurn();
    }
  }

  /** The bytes may have been damaged on their way here: nothing is received before they were read again. Never rejects. */
  async #readAgain(lane: PartitionLane, batch: UnreadableBatch): Promise<void> {
    this.#flow(lane).pause();
    if (this.#retrying.has(lane)) return;
    this.#retrying.add(lane);
    try {
      if (await this.#parts.isUnreadable(batch)) lane.unreadableDigest = batch.digest;
      this.#retry(lane);
    } catch (error) {
      const { topic, partition, first: offset } = batch;
      this.#failed(error, { topic, partition, offset });
      this.#later(this.#parts.refusedAgainMs ?? REFUSED_AGAIN_MS, () => this.#retry(lane));
    }
  }

  /** The other partitions are fetched meanwhile. */
  #refused(lane: PartitionLane, reason: string): void {
    const { topic, partition, next: offset } = lane;
    if (lane.refuse(reason))
      this.#parts.logger.error({ topic, partition, offset, reason }, 'reading a partition failed');
    this.#flow(lane).pause();
    if (this.#retrying.has(lane)) return;
    this.#retrying.add(lane);
    this.#later(this.#parts.refusedAgainMs ?? REFUSED_AGAIN_MS, () => this.#retry(lane));
  }

  #retry(lane: PartitionLane): void {
    this.#retrying.delete(lane);
    if (!this.has(lane) || this.#stopped) return;
    this.#flow(lane).resume();
    lane.regulate(true);
  }

  #itemsOf(lane: PartitionLane, batch: EachBatchPayload['batch']): LaneItem[] {
    const { notBefore = () => 0 } = this.#parts.options;
    return fromMessages(batch, batch.messages).map((received) =>
      'digest' in received ? lane.pace.item(received) : dueRecord(received, notBefore(received)),
    );
  }

  /** For partitions without a lane: nothing is fetched until their offsets are known. */
  #begin(places: readonly Place[]): void {
    for (const place of places) this.#flow(place).pause();
    this.#setLanes();
    void this.#starts.find(places, this.#join);
  }

  #found(starts: readonly FoundStart[]): void {
    for (const found of starts) this.#openLane(found);
    this.#setLanes();
    this.#tellPlaced();
  }

  #failed(error: unknown, about: object): void {
    if (this.#stopped) return;
    if (error instanceof BrokerRefused) this.#parts.refused(error);
    else this.#parts.logger.warn({ err: error, ...about }, 'partitions can not be read on yet; retrying');
  }

  /** Includes former lanes, of which nothing is handed out until ownership is known. */
  #setLanes(): void {
    this.#parts.pump.setLanes([...this.#lanes.values(), ...this.#former.values()]);
  }

  #openLane({ place, start }: FoundStart): void {
    const key = keyOf(place);
    const flow = this.#flow(place);
    const former = this.#former.get(key);
    this.#former.delete(key);
    // Measured with Kafka unreachable for ten seconds: without this nearly all deliveries in progress were sent twice.
    const lane = former?.knows(start) ? former : new PartitionLane({ ...place, start }, flow);
    this.#lanes.set(key, lane);
    this.#parts.client.seek({ ...place, offset: String(lane.next) });
    flow.resume();
    lane.regulate(true);
  }

  #later(ms: number, then: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      then();
    }, ms);
    this.#timers.add(timer);
  }

  #flow({ topic, partition }: Place) {
    const topicPartitions = [{ topic, partitions: [partition] }];
    return {
      pause: () => this.#parts.client.pause(topicPartitions),
      resume: () => this.#parts.client.resume(topicPartitions),
    };
  }

  /**
   * The topic was deleted. Work in hand is never marked done: its offsets mean nothing in the recreated topic, whose log may
   * already be longer. Kafka deletes a group's offsets together with the topic.
   */
  #beginAnew({ topic, partition, next }: PartitionLane, why: string): void {
    const place = { topic, partition };
    this.#parts.logger.error(place, why);
    this.#lanes.delete(keyOf(place));
    this.#starts.stoppedAt(place, next);
    this.#begin([place]);
  }

  /** A batch that leaves a gap: it was fetched before a rejoin, or retention deleted the records in between. */
  #goBack(lane: PartitionLane, firstOffset: number): void {
    const { topic, partition, next } = lane;
    const join = this.#join;
    this.#parts.client.seek({ topic, partition, offset: String(next) });
    void this.#parts.admin.offsets(topic).then(
      (offsets) => {
        const low = offsets.find((entry) => entry.partition === partition)?.low ?? 0;
        if (join === this.#join && low <= firstOffset) void this.#skip(lane, low);
      },
      () => undefined,
    );
  }

  /** Retention deleted the records at this offset, or the topic was recreated and its log may have grown since. */
  async #outOfRange(lane: PartitionLane, fetchedOffset: number): Promise<void> {
    const { topic, partition } = lane;
    const join = this.#join;
    this.#flow(lane).pause();
    const offsets = await this.#parts.admin.offsets(topic).catch(() => null);
    if (join !== this.#join || !this.has(lane) || this.#stopped) return;
    const low = offsets?.find((entry) => entry.partition === partition)?.low;
    if (low !== undefined && fetchedOffset >= low) return this.#beginAnew(lane, MADE_ANEW);
    // If the offsets are unavailable, the same offset is fetched, and checked, again.
    await this.#skip(lane, low ?? 0);
    if (join !== this.#join || !this.has(lane) || this.#stopped) return;
    this.#parts.client.seek({ topic, partition, offset: String(lane.next) });
    this.#flow(lane).resume();
    lane.regulate(true);
  }

  /** Never rejects: without its announcement, nothing is skipped, and the same offset is fetched again. */
  async #skip(lane: PartitionLane, low: number): Promise<void> {
    const { topic, partition, next: expected } = lane;
    if (low <= expected) return;
    const { logger, options } = this.#parts;
    logger.error({ topic, partition, from: expected, to: low }, 'records were deleted before they were delivered');
    try {
      await options.onStart?.({ topic, partition, expected, offset: low });
      lane.skipTo(low);
    } catch (error) {
      this.#failed(error, { topic, partition });
    }
  }
}
