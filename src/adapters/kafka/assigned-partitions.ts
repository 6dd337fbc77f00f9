/**
 * The partitions this consumer has, each with its lane, through all joins of the group.
 *
 *   assigned -> paused, its place being asked for -> open: a lane takes what is fetched -> assigned to another: forgotten
 *                                                     \-> its topic is gone, or another one of that name: made again
 *                                                     |   where it is missing, its place being asked for again
 *                                                     \-> this member has a new id: its place is asked for again, and the
 *                                                         lane goes on where nobody was further meanwhile
 *
 * Hazard: kafkajs goes back to the committed offsets at each rejoin, tells nobody which partitions it lost, and may
 * bring batches that were fetched before the rejoin. So a partition's start is asked for at each join, and a batch is
 * taken only where it continues what the lane has: see received.
 */
import type { EachBatchPayload, Consumer as KafkaClient } from 'kafkajs';
import type { Logger } from '../../observability/logger.js';
import type { ConsumeOptions } from '../../ports/broker.js';
import { type InLine, type RecordPump, waiting } from '../common/record-pump.js';
import { lostIn, refusalIn } from './fetched/marks.js';
import { type Flow, type GroupStart, PartitionLane } from './partition-lane.js';
import { type Assignment, keyOf, type Place, placesOf } from './places.js';
import { fromMessages } from './records.js';
import type { TopicAdmin } from './topic-admin.js';

export interface AssignedPartitionsParts {
  readonly client: Pick<KafkaClient, 'pause' | 'resume' | 'seek'>;
  readonly admin: Pick<TopicAdmin, 'groupStart' | 'offsets' | 'forget' | 'ensure'>;
  readonly options: Pick<ConsumeOptions, 'group' | 'notBefore'>;
  readonly pump: Pick<RecordPump, 'setLanes' | 'pumpNextTurn'>;
  readonly logger: Logger;
  /** After a join: told once it is known of each partition that stays whether it stayed this consumer's. */
  readonly placed: () => void;
  /** REFUSALS without it. */
  readonly refusals?: RefusalTimes;
}

/** Of a partition that the broker can't read. ms */
export interface RefusalTimes {
  /** Until it is tried again. */
  readonly againMs: number;
  /** Without a refusal for so long, that try was taken. */
  readonly takenMs: number;
}

const ASK_AGAIN_MS = 500;
const GONE = 'Kafka no longer has this topic: it is recreated if missing, and read from its start';
const MADE_ANEW = 'the topic was recreated while it was read: reading restarts at its start';
const REFUSALS: RefusalTimes = { againMs: 5_000, takenMs: 2_000 };

export class AssignedPartitions {
  readonly #parts: AssignedPartitionsParts;
  readonly #lanes = new Map<string, PartitionLane>();
  /** Of partitions that stay through a change of this member's id, until it is known where the group stands. */
  readonly #former = new Map<string, PartitionLane>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #retrying = new Set<PartitionLane>();
  #memberId = '';
  /** Counts the joins: what was asked for before the last one is not looked at. */
  #join = 0;
  #stopped = false;

  constructor(parts: AssignedPartitionsParts) {
    this.#parts = parts;
  }

  lanes(): Iterable<PartitionLane> {
    return this.#lanes.values();
  }

  /** Whether this lane is still the one of its partition. */
  has(lane: PartitionLane): boolean {
    return this.#lanes.get(keyOf(lane)) === lane;
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  joined(memberId: string, assignment: Assignment): void {
    this.#join += 1;
    const places = placesOf(assignment);
    const assigned = new Set(places.map(keyOf));
    for (const key of this.#former.keys()) if (!assigned.has(key)) this.#former.delete(key);
    for (const [key, lane] of this.#lanes) {
      // A new member id: this member was thought dead, and others may have had its partitions meanwhile.
      const mayStay = memberId === this.#memberId;
      if (!mayStay && assigned.has(key)) this.#former.set(key, lane);
      if (!mayStay || !assigned.has(key)) this.#lanes.delete(key);
    }
    this.#memberId = memberId;
    for (const place of places) this.#flow(place).resume();
    for (const lane of this.#lanes.values()) lane.regulate(true);
    this.#begin(places.filter((place) => !this.#lanes.has(keyOf(place))));
    this.#tellPlaced();
  }

  #tellPlaced(): void {
    if (this.#former.size === 0) this.#parts.placed();
  }

  /** Returns at once: kafkajs fetches nothing more before that. What is not resolved comes again. */
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
      lane.sawEnd(Number(batch.highWatermark));
      lane.receive(this.#inLine(batch), Number(batch.lastOffset()));
      resolveOffset(batch.lastOffset());
      this.#parts.pump.pumpNextTurn();
    }
  }

  /** The others are fetched meanwhile. */
  #refused(lane: PartitionLane, reason: string): void {
    const { topic, partition, next: offset } = lane;
    if (lane.refuse(reason))
      this.#parts.logger.error({ topic, partition, offset, reason }, 'reading a partition failed');
    this.#flow(lane).pause();
    if (this.#retrying.has(lane)) return;
    this.#retrying.add(lane);
    const { againMs } = this.#parts.refusals ?? REFUSALS;
    this.#later(againMs, () => this.#retry(lane));
  }

  /** Nothing tells of a fetch that was taken and brought nothing: no refusal soon after it is one. */
  #retry(lane: PartitionLane): void {
    this.#retrying.delete(lane);
    if (!this.has(lane)) return;
    const { refusals } = lane;
    const { takenMs } = this.#parts.refusals ?? REFUSALS;
    this.#flow(lane).resume();
    lane.regulate(true);
    this.#later(takenMs, () => {
      if (lane.refusals === refusals) lane.taken();
    });
  }

  #inLine(batch: EachBatchPayload['batch']): InLine[] {
    const { notBefore = () => 0 } = this.#parts.options;
    return fromMessages(batch, batch.messages).map((received) =>
      'digest' in received ? { unreadable: received } : waiting(received, notBefore(received)),
    );
  }

  /** For places that have no lane: nothing of them is fetched until it is known from where. */
  #begin(places: readonly Place[]): void {
    for (const place of places) this.#flow(place).pause();
    this.#setLanes();
    void this.#open(places, this.#join);
  }

  /** From where the group stands; never rejects: what can't be had now is asked for again. */
  async #open(places: readonly Place[], join: number): Promise<void> {
    if (places.length === 0) return;
    const { admin, options, logger } = this.#parts;
    const topics = [...new Set(places.map(({ topic }) => topic))];
    try {
      const starts = await admin.groupStart(options.group, topics);
      if (join !== this.#join || this.#stopped) return;
      const startOf = ({ topic, partition }: Place) => starts.get(topic)?.get(partition);
      for (const place of places) this.#openLane(place, startOf(place));
      this.#setLanes();
      this.#tellPlaced();
      const left = places.filter((place) => startOf(place) === undefined);
      for (const topic of topics) if (!starts.has(topic)) this.#makeAgain(topic);
      if (left.length > 0) this.#askAgain(left, join);
    } catch (error) {
      logger.warn({ err: error, group: options.group }, 'the offsets of the group are unavailable');
      this.#askAgain(places, join);
    }
  }

  /** Those of which it is not known whether they stay, too: until that is known nothing is handed out. */
  #setLanes(): void {
    this.#parts.pump.setLanes([...this.#lanes.values(), ...this.#former.values()]);
  }

  #openLane(place: Place, start: GroupStart | undefined): void {
    if (start === undefined) return;
    const key = keyOf(place);
    const flow = this.#flow(place);
    const former = this.#former.get(key);
    this.#former.delete(key);
    // Measured with Kafka away for ten seconds: without it nearly all that was under way went out twice.
    const lane = former?.knows(start) ? former : newLane(place, start, flow);
    this.#lanes.set(key, lane);
    this.#parts.client.seek({ ...place, offset: String(lane.next) });
    flow.resume();
    lane.regulate(true);
  }

  #makeAgain(topic: string): void {
    const { admin, logger } = this.#parts;
    admin.forget(topic);
    admin.ensure([topic]).catch((error: unknown) => logger.warn({ err: error, topic }, 'the topic is unavailable'));
  }

  #askAgain(places: readonly Place[], join: number): void {
    this.#later(ASK_AGAIN_MS, () => {
      if (join === this.#join) void this.#open(places, join);
    });
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
   * The topic was deleted. What is in hand of it is done by nobody's reckoning: its offsets say nothing of the one that is
   * made again, whose log may be longer already. Kafka forgets a group's offsets of a topic that is deleted.
   */
  #beginAnew({ topic, partition }: PartitionLane, why: string): void {
    const place = { topic, partition };
    this.#parts.logger.error(place, why);
    this.#lanes.delete(keyOf(place));
    this.#begin([place]);
  }

  /** A batch that leaves something out: of before a rejoin, or retention has taken what should have come. */
  #goBack(lane: PartitionLane, firstOffset: number): void {
    const { topic, partition, next } = lane;
    const join = this.#join;
    this.#parts.client.seek({ topic, partition, offset: String(next) });
    void this.#parts.admin.offsets(topic).then(
      (offsets) => {
        const low = offsets.find((entry) => entry.partition === partition)?.low ?? 0;
        if (join === this.#join && low <= firstOffset) this.#skip(lane, low);
      },
      () => undefined,
    );
  }

  /** Retention has taken what was there, or the topic is another one of that name, whose log may have grown since. */
  async #outOfRange(lane: PartitionLane, fetchedOffset: number): Promise<void> {
    const { topic, partition } = lane;
    const join = this.#join;
    this.#flow(lane).pause();
    const offsets = await this.#parts.admin.offsets(topic).catch(() => null);
    if (join !== this.#join || !this.has(lane) || this.#stopped) return;
    const low = offsets?.find((entry) => entry.partition === partition)?.low;
    if (low !== undefined && fetchedOffset >= low) return this.#beginAnew(lane, MADE_ANEW);
    // Where it could not be asked for, the same is fetched, and asked for, again.
    this.#skip(lane, low ?? 0);
    this.#parts.client.seek({ topic, partition, offset: String(lane.next) });
    this.#flow(lane).resume();
    lane.regulate(true);
  }

  #skip(lane: PartitionLane, low: number): void {
    const { topic, partition, next } = lane;
    if (low <= next) return;
    const about = { topic, partition, from: next, to: low };
    this.#parts.logger.error(about, 'records were deleted before they were delivered');
    lane.skipTo(low);
  }
}

function newLane(place: Place, { offset: start, behind }: GroupStart, flow: Flow): PartitionLane {
  return new PartitionLane({ ...place, start, ...(behind && { behind }) }, flow);
}
