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

/** The highest removed offset of a partition that an entry or dead letter names, and when that was written. */
interface Named {
  readonly offset: number;
  /** ms since the epoch */
  readonly at: number;
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
export class ConsumedTopic extends ReadTopic {
  /** From before the group's committed offsets were read: what was removed by then was done by then, or never. */
  readonly #before: ReadonlyMap<number, Extent>;
  /** By partition, what follows here too. */
  readonly #named = new Map<number, Named>();
  readonly #last = new Map<number, number>();
  /** The most offsets between two records: those of a transaction's marker, or of records that were removed alone. */
  readonly #widest = new Map<number, number>();
  /** The highest offset that an entry names. */
  readonly #highest = new Map<number, number>();
  #isGone = false;
  #wasRecreated = false;

  constructor(name: string, before: ReadonlyMap<number, Extent>) {
    super(name);
    this.#before = before;
  }

  /** The offsets that an open transaction held back before the topic was read. */
  get heldBack(): Ranges {
    const held = new Map<number, { readonly from: number; readonly to: number }>();
    for (const [partition, { stable: from, next: to }] of this.#before)
      if (from !== undefined) held.set(partition, { from, to });
    return held;
  }

  override saw(record: ReceivedRecord): void {
    super.saw(record);
    const { partition, offset } = record;
    const gap = offset - (this.#last.get(partition) ?? offset - 1) - 1;
    this.#widest.set(partition, Math.max(gap, this.#widest.get(partition) ?? 0));
    this.#last.set(partition, offset);
  }

  /** An entry or a dead letter, written `at` that time, names this offset. */
  names({ partition, offset }: Pick<RecordOffset, 'partition' | 'offset'>, at: number): void {
    const isRemoved = offset < (this.#before.get(partition) ?? NOWHERE).first;
    const known = this.#named.get(partition);
    if (isRemoved && (!known || offset > known.offset)) this.#named.set(partition, { offset, at });
  }

  /**
   * An entry names this record.
   * @param found the time of the record that was read at its offset; undefined: none was @param isDue whether the named record is of the period
   */
  isRouted({ partition, offset, at }: RecordOffset, found: number | undefined, isDue: boolean): void {
    const { next, stable = next } = this.#before.get(partition) ?? NOWHERE;
    if (found !== undefined && found !== at) this.#wasRecreated = true;
    // At a later offset it may have been published since.
    if (found !== at && isDue && offset < stable) this.#isGone = true;
    this.#highest.set(partition, Math.max(offset, this.#highest.get(partition) ?? 0));
  }

  /** Whether the group was, as far as entries show, never done with the last records that were removed. */
  get hasGap(): boolean {
    return [...this.#before.keys()].some((partition) => this.#gap(partition) !== null);
  }

  /** @param unnamedFrom the start of the period, where the entries are lost that would name removed records; else null */
  lostRecords(found: TopicBounds, unnamedFrom: number | null, reachesBackTo: (at: number) => boolean = () => false) {
    const { extent, committed } = found;
    const lost: Lost[] = [];
    for (const [partition, { first }] of this.#before) {
      const gap = this.#gap(partition);
      const done = committed.get(partition) ?? 0;
      const from = done < first ? done : gap && reachesBackTo(gap.at) ? gap.offset + 1 : first;
      const why = `offsets ${from} to ${first - 1} of partition ${partition} were removed before they were done`;
      if (from < first) lost.push(this.#because(why));
    }
    const endsBefore = (partition: number, offset: number) => offset > (extent.get(partition) ?? NOWHERE).next;
    const isShort =
      [...committed].some(([partition, offset]) => endsBefore(partition, offset)) ||
      [...this.#highest].some(([partition, offset]) => endsBefore(partition, offset + 1));
    if (this.#wasRecreated || isShort) lost.push(this.#because('it was recreated or truncated'));
    if (this.#isGone) lost.push(this.#because('entries name records of the period that it does not have'));
    const unnamed = unnamedFrom === null || lost.length > 0 ? null : this.lost(found, unnamedFrom);
    return unnamed ? [unnamed] : lost;
  }

  /** Null if the offset before the first kept one is named, or may have been no record. */
  #gap(partition: number): Named | null {
    const { first } = this.#before.get(partition) ?? NOWHERE;
    const named = this.#named.get(partition) ?? { offset: -1, at: Number.NEGATIVE_INFINITY };
    return named.offset + 1 + (this.#widest.get(partition) ?? 0) < first ? named : null;
  }

  #because(why: string): Lost {
    return { kind: 'lost', topic: this.name, why };
  }
}
