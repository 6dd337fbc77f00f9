/** One topic as a consumer of a group reads it: page by page, which wait in its queue. */
import type { PartitionState, ReceivedRecord } from '../../ports/broker.js';
import { type LaneItem, laneItem, RecordLane } from '../common/record-lane.js';
import type { RecordLog } from './record-log.js';

const PAGE = 100;

export class TopicLane extends RecordLane {
  readonly topic: string;
  readonly #log: RecordLog;
  readonly #notBefore: (record: ReceivedRecord) => number;
  /** False while the last page was the topic's end and nothing was published since. */
  #mayHaveMore = true;

  constructor(topic: string, log: RecordLog, group: string, notBefore: (record: ReceivedRecord) => number) {
    const { offset, behind } = log.progress(group, topic);
    super(offset, behind);
    this.topic = topic;
    this.#log = log;
    this.#notBefore = notBefore;
  }

  published(): void {
    this.#mayHaveMore = true;
  }

  /** @throws SQLite's error */
  override head(): LaneItem | undefined {
    while (!super.head() && this.#mayHaveMore) this.#readOn();
    return super.head();
  }

  /** @throws SQLite's error */
  get state(): PartitionState {
    const { topic } = this;
    this.head();
    const behind = Math.max(0, this.#log.end(topic) - this.doneTo);
    return { topic, partition: 0, behind, ...this.headState };
  }

  #readOn(): void {
    // A million records behind one that waits took six seconds to read.
    while (this.passKnown(this.readTo)) this.readTo += 1;
    const { page, next, atEnd } = this.#log.page(this.topic, this.readTo, PAGE);
    this.#mayHaveMore = !atEnd;
    this.add(
      page.map((one) => laneItem(one, this.#notBefore)),
      next,
    );
  }
}
