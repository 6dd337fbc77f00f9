/**
 * A topic as the audit read it: whether it has all records of the period. Reports deleted records (retention, operators).
 */
import type { Extent, ReceivedRecord } from '../ports/broker.js';

/** The topic no longer has all records of the period. */
export interface Lost {
  readonly kind: 'lost';
  readonly topic: string;
  /** Records from before this time may be missing, ISO 8601; null if it is unknown which. */
  readonly before: string | null;
}

export interface Found {
  /** Queried after the topic was read: records that retention deleted meanwhile count as missing, or were read. */
  readonly extent: ReadonlyMap<number, Extent>;
  /** The group's committed offsets when the audit began. */
  readonly committed: ReadonlyMap<number, number>;
}

const NOWHERE: Extent = { first: 0, next: 0 };

export class ReadTopic {
  readonly name: string;
  readonly #oldest = new Map<number, Pick<ReceivedRecord, 'offset' | 'timestamp'>>();
  readonly #before: ReadonlyMap<number, Extent>;
  /** By partition, the highest offset that other topics name and that was not read. */
  readonly #named = new Map<number, number>();
  #hasLostNamed = false;

  /** @param before the extent before reading: a record within it that other topics name, but that was not read, is gone */
  constructor(name: string, before: ReadonlyMap<number, Extent> = new Map()) {
    this.name = name;
    this.#before = before;
  }

  /** Call in offset order within each partition. */
  saw({ partition, offset, timestamp }: ReceivedRecord): void {
    if (!this.#oldest.has(partition)) this.#oldest.set(partition, { offset, timestamp });
  }

  /** An entry names a record of the period that was not read: it is gone, or was published after the topic was read. */
  isNamed({ partition, offset }: Pick<ReceivedRecord, 'partition' | 'offset'>): void {
    if (offset < (this.#before.get(partition)?.next ?? 0)) this.#hasLostNamed = true;
    else this.#named.set(partition, Math.max(offset, this.#named.get(partition) ?? 0));
  }

  /** Null if no record that may be of the period is missing. @param from the start of the period, ms since the epoch */
  lost({ extent, committed }: Found, from: number): Lost | null {
    const partitions = [...new Set([...extent.keys(), ...committed.keys()])];
    const lacking = partitions.filter((partition) => {
      const { first, next } = extent.get(partition) ?? NOWHERE;
      const { offset = first, timestamp = Number.POSITIVE_INFINITY } = this.#oldest.get(partition) ?? {};
      const isCut = Math.min(offset, first) > 0;
      const isMadeAgain = (committed.get(partition) ?? 0) > next;
      return (isCut || isMadeAgain) && timestamp > from;
    });
    const isNamedGone = [...this.#named].some(([partition, offset]) => offset >= (extent.get(partition)?.next ?? 0));
    if (lacking.length === 0 && !isNamedGone && !this.#hasLostNamed) return null;
    const times = lacking.map((partition) => this.#oldest.get(partition)?.timestamp ?? null);
    const isTimed = times.length > 0 && !isNamedGone && !this.#hasLostNamed;
    const before = isTimed && times.every((time) => time !== null) ? new Date(Math.max(...times)).toISOString() : null;
    return { kind: 'lost', topic: this.name, before };
  }
}
