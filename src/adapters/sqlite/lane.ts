/** One topic as a consumer of a group reads it: a prefetched page, the offset read up to, and what is done. */
import type { PartitionState, ReceivedRecord } from '../../ports/broker.js';
import { type DoneBehind, DonePrefix } from '../common/done-prefix.js';
import type { Kept } from '../common/offset-keeper.js';
import { dueRecord, headState, type Lane, type LaneItem, lastOf } from '../common/record-pump.js';
import { UnreadablePace } from '../common/unreadable-pace.js';
import type { RecordLog } from './record-log.js';

const PAGE = 100;

export class TopicLane implements Lane, Kept {
  readonly topic: string;
  readonly #log: RecordLog;
  readonly #dueOf: (record: ReceivedRecord) => number;
  readonly #done: DonePrefix;
  readonly #pace = new UnreadablePace();
  #page: LaneItem[] = [];
  #nextRead: number;
  #remembered: number;
  /** False while the last page was the topic's end and nothing was published since. */
  #mayHaveMore = true;

  constructor(topic: string, log: RecordLog, group: string, dueOf: (record: ReceivedRecord) => number) {
    this.topic = topic;
    this.#log = log;
    this.#dueOf = dueOf;
    const { offset, behind } = log.progress(group, topic);
    this.#nextRead = this.#remembered = offset;
    this.#done = new DonePrefix(offset, behind);
  }

  published(): void {
    this.#mayHaveMore = true;
  }

  /** The next record to hand out, due or not. @throws SQLite's error */
  head(): LaneItem | undefined {
    while (this.#page.length === 0 && this.#mayHaveMore) this.#readOn();
    return this.#page[0];
  }

  /** The due time of the head, as far as known without reading. */
  get headDue(): number {
    return this.#page[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#done.isFull;
  }

  takeHead(): void {
    const head = this.#page.shift();
    if (!head) return;
    this.#pace.passed(head);
    this.#done.handOut(lastOf(head));
    this.#passKnown();
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

  /** The offset to commit for the group; null if it is committed already. */
  get unremembered(): number | null {
    return this.#done.next > this.#remembered ? this.#done.next : null;
  }

  remembered(offset: number): void {
    this.#remembered = offset;
  }

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

  /** @throws SQLite's error */
  get state(): PartitionState {
    const { topic } = this;
    const head = this.head();
    const behind = Math.max(0, this.#log.end(topic) - this.#done.next);
    return { topic, partition: 0, behind, head: headState(head), unreadable: this.#pace.blockedBy(head) };
  }

  #readOn(): void {
    // A million records behind one that waits took six seconds to read.
    while (this.#done.passKnown(this.#nextRead)) this.#nextRead += 1;
    const records = this.#log.page(this.topic, this.#nextRead, PAGE);
    this.#mayHaveMore = !records.atEnd;
    this.#page = records.page.map((one) => ('digest' in one ? this.#pace.item(one) : dueRecord(one, this.#dueOf(one))));
    this.#nextRead = records.next;
    this.#passKnown();
  }

  #passKnown(): void {
    for (let first = this.#page[0]; first && this.#done.passKnown(lastOf(first)); first = this.#page[0]) {
      this.#page.shift();
    }
  }
}
