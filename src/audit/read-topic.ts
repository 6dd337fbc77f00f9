/**
 * Topics as the audit read them: whether records of the period may have been deleted, by retention or by operators, or were
 * removed before they were done.
 */
import type { RecordOffset } from '../delivery/record-place.js';
import { type Extent, isTime, NO_TIME, type ReceivedRecord } from '../ports/broker.js';
import type { Ranges } from '../ports/topic-records.js';

/** A topic does not have, or may not have, all records of the period. */
export interface Lost {
  readonly kind: 'lost';
  readonly topic: string;
  readonly why: string;
}

interface TopicBounds {
  /** Queried after the topic was read: records that retention deleted meanwhile count as missing, or were read. */
  readonly extent: ReadonlyMap<number, Extent>;
  /** The group's committed offsets when the audit began. */
  readonly committed: ReadonlyMap<number, number>;
}

const NOWHERE: Extent = { first: 0, next: 0 };

/** Offsets from `from` to before `to`. */
export function removed(
  { topic, partition }: Pick<ReceivedRecord, 'topic' | 'partition'>,
  { from, to }: { readonly from: number; readonly to: number },
): Lost {
  const why = `offsets ${from} to ${to - 1} of partition ${partition} were removed before they were done`;
  return { kind: 'lost', topic, why };
}

/** A topic of evidence (entries, dead letters, a tier): its records have the times at which they were written. */
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
  lost({ extent, committed }: TopicBounds, from: number): Lost | null {
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

/**
 * A topic whose records a group gets done: of payments, or of requests. Goes by offsets alone: producers stamp payments, so
 * the time of one record shows nothing about those before it.
 */
export class ConsumedTopic {
  readonly #read: ReadTopic;
  /** From before the group's committed offsets were read: what was removed by then was done by then, or never. */
  readonly #before: ReadonlyMap<number, Extent>;
  /** By partition, the highest offset of the period that an entry names and that may be published after the reading. */
  readonly #later = new Map<number, number>();
  #isGone = false;
  #wasRecreated = false;

  constructor(name: string, before: ReadonlyMap<number, Extent>) {
    this.#read = new ReadTopic(name);
    this.#before = before;
  }

  get name(): string {
    return this.#read.name;
  }

  /** The offsets that an open transaction held back before the topic was read. */
  get heldBack(): Ranges {
    const held = new Map<number, { readonly from: number; readonly to: number }>();
    for (const [partition, { stable: from, next: to }] of this.#before)
      if (from !== undefined) held.set(partition, { from, to });
    return held;
  }

  saw(record: ReceivedRecord): void {
    this.#read.saw(record);
  }

  /** An entry names this record, of any time. */
  isNamed({ partition, offset, at }: RecordOffset): void {
    const oldest = this.#read.oldest(partition);
    if (oldest?.offset === offset && oldest.timestamp !== at) this.#wasRecreated = true;
  }

  /** The named record is of the period, and was not read: it is gone, or was published after the topic was read. */
  isUnread({ partition, offset }: RecordOffset): void {
    const { next, stable = next } = this.#before.get(partition) ?? NOWHERE;
    if (offset < stable) this.#isGone = true;
    else this.#later.set(partition, Math.max(offset, this.#later.get(partition) ?? 0));
  }

  /** @param unnamedFrom the start of the period, where the entries are lost that would name removed records; else null */
  lost(found: TopicBounds, unnamedFrom: number | null): Lost[] {
    const { extent, committed } = found;
    const lost: Lost[] = [];
    for (const [partition, { first }] of this.#before) {
      const from = committed.get(partition) ?? 0;
      if (from < first) lost.push(removed({ topic: this.name, partition }, { from, to: first }));
    }
    const endsBefore = (partition: number, offset: number) => offset > (extent.get(partition) ?? NOWHERE).next;
    const isShort = [...committed].some(([partition, offset]) => endsBefore(partition, offset));
    if (this.#wasRecreated || isShort) lost.push(this.#because('it was recreated or truncated'));
    const isGone = this.#isGone || [...this.#later].some(([partition, offset]) => endsBefore(partition, offset + 1));
    if (isGone) lost.push(this.#because('entries name records of the period that it does not have'));
    const unnamed = unnamedFrom === null || lost.length > 0 ? null : this.#read.lost(found, unnamedFrom);
    return unnamed ? [unnamed] : lost;
  }

  #because(why: string): Lost {
    return { kind: 'lost', topic: this.name, why };
  }
}
