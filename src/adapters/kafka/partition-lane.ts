/**
 * One partition, while this consumer has it. Received records wait in a queue; back-pressure: above FULL the partition is
 * paused, below LOW it is resumed. `next` is the offset that must come next: kafkajs moves its own position at a rejoin, and
 * may pass on a batch fetched before it, so every batch is checked against `next`.
 */

import type { PartitionState, ReceivedRecord, UnreadableBatch } from '../../ports/broker.js';
import { type DoneBehind, DonePrefix } from '../common/done-prefix.js';
import type { Kept } from '../common/offset-keeper.js';
import { headState, type Lane, type LaneItem, lastOf } from '../common/record-pump.js';
import { UnreadablePace } from '../common/unreadable-pace.js';

const FULL_RECORDS = 500;
/** Tiers times partitions gives a hundred lanes and more, and all of them may be full. */
const FULL_BYTES = 512 * 1024;
const LOW_RECORDS = 100;
/** Below every offset: the start itself is to be committed. */
const UNCOMMITTED = -1;

/** Where a group begins in a partition, and work done behind that. */
export interface GroupStart {
  /** Where to begin. */
  readonly offset: number;
  /** The committed offset, even if the topic no longer has it; null if there is none. */
  readonly committed: number | null;
  /** Whether another application committed it. */
  readonly isForeign?: boolean;
  readonly behind?: DoneBehind;
}

export interface Flow {
  pause(): void;
  resume(): void;
}

export class PartitionLane implements Lane, Kept {
  readonly topic: string;
  readonly partition: number;
  readonly #flow: Flow;
  readonly #done: DonePrefix;
  readonly pace = new UnreadablePace();
  #queue: LaneItem[] = [];
  #bytes = 0;
  #next: number;
  #remembered: number;
  /** The partition's end offset at the last fetch. */
  #end = 0;
  /** The offset from which an open transaction holds records back, and since when that was seen. */
  #heldBack: { readonly offset: number; readonly since: number } | null = null;
  #paused = false;
  /** Of the batch that was read again, and is the same. */
  unreadableDigest: string | null = null;
  /** Why the partition can't be fetched now. */
  #refusal: UnreadableBatch | null = null;
  /** False once a rejected record was dropped: this lane would never redeliver it. */
  #isWhole = true;

  constructor(place: { readonly topic: string; readonly partition: number; readonly start: GroupStart }, flow: Flow) {
    this.topic = place.topic;
    this.partition = place.partition;
    this.#flow = flow;
    const { offset, committed, behind } = place.start;
    this.#next = offset;
    this.#remembered = committed === offset ? offset : UNCOMMITTED;
    this.#done = new DonePrefix(offset, behind);
  }

  /** The offset that must come next. */
  get next(): number {
    return this.#next;
  }

  /** From an answer to a fetch. @param stable the offset before which records can be read */
  sawEnd(end: number, stable: number): void {
    this.#end = end;
    if (stable >= end) this.#heldBack = null;
    else if (this.#heldBack?.offset !== stable) this.#heldBack = { offset: stable, since: performance.now() };
  }

  get state(): PartitionState {
    const { topic, partition } = this;
    const unreadable = this.pace.blockedBy(this.head()) ?? this.#refusal;
    const behind = Math.max(this.#end, this.#next) - (this.unremembered ?? this.#remembered);
    const state = { topic, partition, behind, head: headState(this.head()), unreadable };
    if (!this.#heldBack) return state;
    const { offset, since } = this.#heldBack;
    return { ...state, heldBack: { offset, records: this.#end - offset, ms: performance.now() - since } };
  }

  get isRefused(): boolean {
    return this.#refusal !== null;
  }

  /** Records behind the queued ones can't be fetched. @returns false if the reason is known already */
  refuse(reason: string): boolean {
    if (this.#refusal?.reason === reason) return false;
    const place = { topic: this.topic, partition: this.partition, first: this.#next, last: this.#next };
    this.#refusal = { ...place, codec: 'unknown', reason, digest: null };
    return true;
  }

  /** A fetch succeeded again. */
  taken(): void {
    this.#refusal = null;
  }

  /** Skips records received before. @param last the batch's last offset, whether or not it has a record */
  receive(received: readonly LaneItem[], last: number): void {
    for (const entry of received) {
      if (lastOf(entry) < this.#next) continue;
      this.#queue.push(entry);
      this.#bytes += entry.bytes;
    }
    this.#next = Math.max(this.#next, last + 1);
    this.#refusal = null;
    this.#passKnown();
    this.regulate();
  }

  /**
   * Whether a group at this offset has exactly this lane's work left to do: no other consumer got further. At the log's
   * start this is undecidable: a recreated topic starts there too.
   */
  knows({ offset: groupStart, behind }: GroupStart): boolean {
    if (groupStart === 0 || !this.#isWhole) return false;
    const { records } = this.#done.behind;
    const foreign = [...(behind?.records ?? [])].some((offset) => offset >= this.#done.next && !records.has(offset));
    return !foreign && this.#remembered <= groupStart && groupStart <= (this.unremembered ?? this.#remembered);
  }

  /** The records before this offset were deleted by the topic's retention. */
  skipTo(offset: number): void {
    this.#next = Math.max(this.#next, offset);
  }

  /** Pauses or resumes depending on the queue; kafkajs forgets pauses at a rejoin, so they are repeated. */
  regulate(rejoined = false): void {
    if (rejoined) this.#paused = false;
    if (!this.#paused && (this.#queue.length >= FULL_RECORDS || this.#bytes >= FULL_BYTES)) {
      this.#paused = true;
      this.#flow.pause();
    } else if (this.#paused && this.#queue.length <= LOW_RECORDS && this.#bytes <= FULL_BYTES / 2) {
      this.#paused = false;
      this.#flow.resume();
    }
  }

  head(): LaneItem | undefined {
    return this.#queue[0];
  }

  get headDue(): number {
    return this.head()?.due ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#done.isFull;
  }

  takeHead(): void {
    const head = this.#queue.shift();
    if (!head) return;
    this.#bytes -= head.bytes;
    this.pace.passed(head);
    this.#done.handOut(lastOf(head));
    this.#passKnown();
    this.regulate();
  }

  #passKnown(): void {
    for (let first = this.#queue[0]; first && this.#done.passKnown(lastOf(first)); first = this.#queue[0]) {
      this.#queue.shift();
      this.#bytes -= first.bytes;
    }
  }

  done(item: LaneItem): void {
    this.#done.done(lastOf(item));
  }

  isPartDone({ offset }: ReceivedRecord, part: number): boolean {
    return this.#done.isPartDone(offset, part);
  }

  partDone({ offset }: ReceivedRecord, part: number): void {
    this.#done.partDone(offset, part);
  }

  /** Work done behind the committed offset. */
  get behind(): DoneBehind {
    return this.#done.behind;
  }

  get toHandOver(): number | null {
    return this.unremembered ?? (this.behindSize > 0 ? this.#remembered : null);
  }

  get behindSize(): number {
    return this.#done.behindSize;
  }

  get handedOutEnd(): number {
    return this.#done.handedOutEnd;
  }

  letGo(): void {
    this.#isWhole = false;
  }

  get unremembered(): number | null {
    // With nothing outstanding, everything received is done, including transaction markers, which have offsets.
    const next = this.#queue.length === 0 && this.#done.nothingOutstanding ? this.#next : this.#done.next;
    return next > this.#remembered ? next : null;
  }

  remembered(offset: number): void {
    this.#remembered = offset;
  }
}
