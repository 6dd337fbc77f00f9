/**
 * The `start` entries: which partitions of payment topics a dispatcher has begun, and which offsets a start left behind that
 * were never done. When those were lost, and from which time their records were, is unknown: they count in every period.
 */
import { partitionText } from '../delivery/record-place.js';
import type { PartitionStart, ReceivedRecord } from '../ports/broker.js';
import { type Lost, removed } from './read-topic.js';

type Where = Pick<ReceivedRecord, 'topic' | 'partition' | 'offset'>;

interface Begun {
  readonly starts: PartitionStart[];
  readonly routed: Offsets;
}

export class Starts {
  readonly #partitions = new Map<string, Begun>();

  started(start: PartitionStart): void {
    this.#of(start).starts.push(start);
  }

  routed(where: Where): void {
    this.#of(where).routed.add(where.offset);
  }

  has(where: Pick<Where, 'topic' | 'partition'>): boolean {
    return (this.#partitions.get(partitionText(where))?.starts.length ?? 0) > 0;
  }

  /** Each once: a crash before the first commit repeats a start. */
  get lost(): readonly Lost[] {
    const all = [...this.#partitions.values()].flatMap((begun) =>
      begun.starts.flatMap((start) => leftBehind(start, begun) ?? []),
    );
    return [...new Map(all.map((lost) => [`${lost.topic} ${lost.why}`, lost])).values()];
  }

  #of(where: Pick<Where, 'topic' | 'partition'>): Begun {
    const key = partitionText(where);
    const begun = this.#partitions.get(key) ?? { starts: [], routed: new Offsets() };
    this.#partitions.set(key, begun);
    return begun;
  }
}

/** Entries may come in any order, so a start is compared with what was begun and routed before its offset. */
function leftBehind({ topic, partition, expected, offset }: PartitionStart, { starts, routed }: Begun): Lost | null {
  if (expected !== null && expected > offset) {
    const why = `partition ${partition} was recreated or truncated when its group had come to offset ${expected}`;
    return { kind: 'lost', topic, why };
  }
  // Kafka forgets the offsets of a group that was away for a week.
  const before = starts.map((start) => start.offset).filter((other) => other < offset);
  const reached = Math.max(routed.endBefore(offset) ?? -1, ...before);
  const from = expected ?? (reached < 0 ? offset : reached);
  return from < offset ? removed({ topic, partition }, { from, to: offset }) : null;
}

/** Any number of offsets, most of them in runs. */
class Offsets {
  /** Each run by its end, exclusive, and by its first offset. A repeated offset may add a run within another. */
  readonly #firstOf = new Map<number, number>();
  readonly #endOf = new Map<number, number>();

  add(offset: number): void {
    const first = this.#firstOf.get(offset) ?? offset;
    const end = this.#endOf.get(offset + 1) ?? offset + 1;
    this.#firstOf.delete(offset);
    this.#endOf.delete(offset + 1);
    this.#firstOf.set(end, first);
    // A repeated offset may be the first of a longer run.
    this.#endOf.set(first, Math.max(end, this.#endOf.get(first) ?? end));
  }

  /** The end of what is before the limit; null if there is nothing. */
  endBefore(limit: number): number | null {
    const ends = [...this.#endOf].filter(([first]) => first < limit).map(([, end]) => Math.min(end, limit));
    return ends.length > 0 ? ends.reduce((one, other) => Math.max(one, other)) : null;
  }
}
