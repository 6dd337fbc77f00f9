/** One partition, while this consumer has it. Back-pressure: with a full queue it is paused, and resumed at the low mark. */
import type { CompletedAhead, PartitionState } from '../../ports/broker.js';
import { type LaneItem, lastOf, RecordLane } from '../common/record-lane.js';

/** Tiers times partitions gives a hundred lanes and more, and all of them may be full. */
const IN_ORDER = { full: { records: 500, bytes: 512 * 1024 }, low: { records: 100, bytes: 256 * 1024 } };
/** Where keys take turns: a commit has room for a thousand runs of records that are done ahead of the oldest that waits. */
const BY_TURNS = { full: { records: 2_000, bytes: 1024 * 1024 }, low: { records: 1_000, bytes: 512 * 1024 } };
/** Below every offset: the start itself is to be committed. */
const UNCOMMITTED = -1;

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

export function keyOf({ topic, partition }: TopicPartition): string {
  return `${partition} ${topic}`;
}

/** Where a group begins in a partition, and work done behind that. */
export interface GroupStart {
  readonly offset: number;
  /** The committed offset, even if the topic no longer has it; null if there is none. */
  readonly committed: number | null;
  readonly behind?: CompletedAhead;
}

export interface Flow {
  pause(): void;
  resume(): void;
}

export class PartitionLane extends RecordLane implements TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly #flow: Flow;
  readonly #marks: typeof IN_ORDER;
  #end = 0;
  #paused = false;
  /** Digest of a batch that is being fetched again: if its bytes are the same then, it is unreadable. */
  suspect: string | null = null;
  /** Why the records behind the queued ones can't be fetched now. */
  refusal: string | null = null;

  constructor(
    { topic, partition }: TopicPartition,
    { offset, committed, behind }: GroupStart,
    flow: Flow,
    turnsByKey = false,
  ) {
    super(offset, behind, committed === offset ? offset : UNCOMMITTED);
    this.topic = topic;
    this.partition = partition;
    this.#flow = flow;
    this.#marks = turnsByKey ? BY_TURNS : IN_ORDER;
  }

  /** The offset that must come next: kafkajs moves its own at a rejoin, so every batch is checked against this one. */
  get next(): number {
    return this.readTo;
  }

  /** From an answer to a fetch. */
  sawEnd(end: number): void {
    this.#end = end;
  }

  get state(): PartitionState {
    const { topic, partition } = this;
    const { head, unreadable } = this.headState;
    const refused = this.refusal === null ? null : { offset: this.next, reason: this.refusal };
    const behind = Math.max(this.#end, this.next) - (this.unremembered ?? this.committed);
    return { topic, partition, behind, head, unreadable: unreadable ?? refused };
  }

  /** Skips records received before. @param last the batch's last offset, whether or not it has a record */
  receive(received: readonly LaneItem[], last: number): void {
    this.add(
      received.filter((item) => lastOf(item) >= this.next),
      Math.max(this.next, last + 1),
    );
    this.#regulate();
  }

  override takeHead(onlyUsual = false): void {
    super.takeHead(onlyUsual);
    this.#regulate();
  }

  /** Whether no other consumer got further. Undecidable at the log's start: a recreated topic starts there too. */
  knows({ offset, behind }: GroupStart): boolean {
    if (offset === 0) return false;
    const { doneTo } = this;
    const foreign = [...(behind?.records ?? [])].some((at) => at >= doneTo && !this.behind.records.has(at));
    return !foreign && this.committed <= offset && offset <= Math.max(doneTo, this.committed);
  }

  /** The records before this offset are gone. */
  skipTo(offset: number): void {
    this.readTo = Math.max(this.next, offset);
  }

  pause(): void {
    this.#flow.pause();
  }

  /** Also after a rejoin, at which kafkajs forgets pauses. */
  resume(): void {
    this.#paused = false;
    this.#flow.resume();
    this.#regulate();
  }

  #regulate(): void {
    const { records, bytes } = this.queued;
    const { full, low } = this.#marks;
    if (!this.#paused && (records >= full.records || bytes >= full.bytes)) {
      this.#paused = true;
      this.#flow.pause();
    } else if (this.#paused && records <= low.records && bytes <= low.bytes) {
      this.#paused = false;
      this.#flow.resume();
    }
  }
}
