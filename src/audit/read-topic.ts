/**
 * A topic of evidence as the audit read it: entries, dead letters, a tier. Reports whether records of the period may have
 * been deleted, by retention or by operators. Its records have the times at which they were written.
 */
import { type Extent, isTime, NO_TIME, type ReceivedRecord } from '../ports/broker.js';

/** A topic does not have, or may not have, all records of the period. */
export interface Lost {
  readonly kind: 'lost';
  readonly topic: string;
  readonly why: string;
}

export interface Found {
  /** Queried after the topic was read: records that retention deleted meanwhile count as missing, or were read. */
  readonly extent: ReadonlyMap<number, Extent>;
  /** The group's committed offsets when the audit began. */
  readonly committed: ReadonlyMap<number, number>;
}

export const NOWHERE: Extent = { first: 0, next: 0 };

/** Offsets from `from` to before `to`. */
export function removed(
  { topic, partition }: Pick<ReceivedRecord, 'topic' | 'partition'>,
  { from, to }: { readonly from: number; readonly to: number },
): Lost {
  const why = `offsets ${from} to ${to - 1} of partition ${partition} were removed before they were done`;
  return { kind: 'lost', topic, why };
}

export class ReadTopic {
  readonly name: string;
  readonly #oldest = new Map<number, Pick<ReceivedRecord, 'offset' | 'timestamp'>>();

  constructor(name: string) {
    this.name = name;
  }

  /** Call in offset order within each partition. */
  saw({ partition, offset, timestamp }: ReceivedRecord): void {
    if (!this.#oldest.has(partition)) this.#oldest.set(partition, { offset, timestamp });
  }

  oldest(partition: number): Pick<ReceivedRecord, 'offset' | 'timestamp'> | null {
    return this.#oldest.get(partition) ?? null;
  }

  /** Null if no record that may be of the period is missing. @param from the start of the period, ms since the epoch */
  lost({ extent, committed }: Found, from: number): Lost | null {
    const partitions = [...new Set([...extent.keys(), ...committed.keys()])];
    const lacking = partitions.filter((partition) => {
      const { first, next } = extent.get(partition) ?? NOWHERE;
      const { offset = first } = this.#oldest.get(partition) ?? {};
      const isCut = Math.min(offset, first) > 0;
      const isMadeAgain = (committed.get(partition) ?? 0) > next;
      return (isCut || isMadeAgain) && this.#since(partition) > from;
    });
    if (lacking.length === 0) return null;
    const times = lacking.map((partition) => this.#since(partition));
    const before = Math.max(...times);
    const which = isTime(before) ? `from before ${new Date(before).toISOString()}` : 'some or all of them';
    return { kind: 'lost', topic: this.name, why: `records were deleted: ${which}` };
  }

  /** The time of the oldest record left; infinite if there is none, or if it has no time. */
  #since(partition: number): number {
    const { timestamp = NO_TIME } = this.#oldest.get(partition) ?? {};
    return isTime(timestamp) ? timestamp : Number.POSITIVE_INFINITY;
  }
}
