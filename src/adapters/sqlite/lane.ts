/** One topic as a consumer of a group reads it: a page read ahead, the place up to which it read, and what is done. */
import type { PartitionState, ReceivedRecord } from '../../ports/broker.js';
import { DonePrefix } from '../common/done-prefix.js';
import { headState, type Lane, type Waiting, waiting } from '../common/hand-out.js';
import type { Kept } from '../common/offset-keeper.js';
import type { RecordLog } from './record-log.js';

const PAGE = 100;

export class TopicLane implements Lane, Kept {
  readonly topic: string;
  readonly #log: RecordLog;
  readonly #dueOf: (record: ReceivedRecord) => number;
  readonly #done: DonePrefix;
  #page: Waiting[] = [];
  #nextRead: number;
  #remembered: number;
  /** False while the last page was the topic's end and nothing was published since. */
  #mayHaveMore = true;

  constructor(topic: string, log: RecordLog, group: string, dueOf: (record: ReceivedRecord) => number) {
    this.topic = topic;
    this.#log = log;
    this.#dueOf = dueOf;
    this.#nextRead = this.#remembered = log.groupOffset(group, topic);
    this.#done = new DonePrefix(this.#nextRead);
  }

  published(): void {
    this.#mayHaveMore = true;
  }

  /** The next record to hand out, due or not. @throws SQLite's error */
  head(): Waiting | undefined {
    if (this.#page.length === 0 && this.#mayHaveMore) this.#readOn();
    return this.#page[0];
  }

  /** What is known of the head without reading. */
  get headDue(): number {
    return this.#page[0]?.due ?? Number.POSITIVE_INFINITY;
  }

  takeHead(): void {
    const head = this.#page.shift();
    if (head) this.#done.handOut(head.record.offset);
  }

  done(record: ReceivedRecord): void {
    this.#done.done(record.offset);
  }

  /** The offset that is to be remembered for the group, null where it is already. */
  get unremembered(): number | null {
    return this.#done.next > this.#remembered ? this.#done.next : null;
  }

  remembered(offset: number): void {
    this.#remembered = offset;
  }

  /** @throws SQLite's error */
  get state(): PartitionState {
    const { topic } = this;
    const behind = Math.max(0, this.#log.end(topic) - this.#done.next);
    return { topic, partition: 0, behind, head: headState(this.#page[0]) };
  }

  #readOn(): void {
    const records = this.#log.page(this.topic, this.#nextRead, PAGE);
    this.#mayHaveMore = !records.atEnd;
    this.#page = records.page.map((record) => waiting(record, this.#dueOf(record)));
    this.#nextRead = (records.page.at(-1)?.offset ?? this.#nextRead - 1) + 1;
  }
}
