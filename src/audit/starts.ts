/**
 * The `start` entries: which partitions of payment topics a dispatcher has begun, and which offsets a start left behind that
 * were never done. When those were lost, and from which time their records were, is unknown: they count in every period.
 */
import { partitionText } from '../delivery/record-place.js';
import type { PartitionStart, ReceivedRecord } from '../ports/broker.js';
import { type Lost, removed } from './read-topic.js';

type Where = Pick<ReceivedRecord, 'topic' | 'partition' | 'offset'>;

export class Starts {
  /** By partition, how far its entries come: a start, and the `routed` entries behind it. */
  readonly #reached = new Map<string, number>();
  /** By what it says: a crash before the first commit repeats a start. */
  readonly #lost = new Map<string, Lost>();

  /** Call in the order of the entries. */
  started(start: PartitionStart): void {
    const partition = partitionText(start);
    // Kafka forgets the offsets of a group that was away for a week.
    const from = start.expected ?? this.#reached.get(partition) ?? start.offset;
    this.#reached.set(partition, start.offset);
    if (from < start.offset) this.#add(removed(start, { from, to: start.offset }));
    else if (start.expected !== null && from > start.offset) {
      const why = `partition ${start.partition} was recreated or truncated when its group had come to offset ${from}`;
      this.#add({ kind: 'lost', topic: start.topic, why });
    }
  }

  routed(where: Where): void {
    const partition = partitionText(where);
    const reached = this.#reached.get(partition);
    if (reached !== undefined && where.offset >= reached) this.#reached.set(partition, where.offset + 1);
  }

  has(where: Pick<Where, 'topic' | 'partition'>): boolean {
    return this.#reached.has(partitionText(where));
  }

  get lost(): readonly Lost[] {
    return [...this.#lost.values()];
  }

  #add(lost: Lost): void {
    this.#lost.set(`${lost.topic} ${lost.why}`, lost);
  }
}
