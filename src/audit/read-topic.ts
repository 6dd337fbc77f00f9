/** A topic as the audit found it: whether it has all records of the period. What a retention or an operator removed is told. */
import type { Extent, ReceivedRecord } from '../ports/broker.js';

/** The topic no longer has all records of the period. */
export interface Lost {
  readonly kind: 'lost';
  readonly topic: string;
  /** Records from before this time may be missing, ISO 8601; null where it is not known which. */
  readonly before: string | null;
}

export interface Found {
  /** Asked for after the topic was read: what retention took meanwhile is found missing, or was read. */
  readonly extent: ReadonlyMap<number, Extent>;
  /** What the group was done with when the audit began. */
  readonly committed: ReadonlyMap<number, number>;
}

const NOWHERE: Extent = { first: 0, next: 0 };

export class ReadTopic {
  readonly name: string;
  readonly #oldest = new Map<number, Pick<ReceivedRecord, 'offset' | 'timestamp'>>();
  readonly #before: ReadonlyMap<number, Extent>;
  /** By partition the highest offset of those that are named elsewhere, and were not read. */
  readonly #named = new Map<number, number>();
  #hasLostNamed = false;

  /** @param before its extent before it was read: what is named elsewhere, stands there and was not read, is gone */
  constructor(name: string, before: ReadonlyMap<number, Extent> = new Map()) {
    this.name = name;
    this.#before = before;
  }

  /** In the order of offsets within each partition. */
  saw({ partition, offset, timestamp }: ReceivedRecord): void {
    if (!this.#oldest.has(partition)) this.#oldest.set(partition, { offset, timestamp });
  }

  /** An entry names a record of the period that was not read: it is gone, or came after the topic was read. */
  isNamed({ partition, offset }: Pick<ReceivedRecord, 'partition' | 'offset'>): void {
    if (offset < (this.#before.get(partition)?.next ?? 0)) this.#hasLostNamed = true;
    else this.#named.set(partition, Math.max(offset, this.#named.get(partition) ?? 0));
  }

  /** @param from the begin of the period, ms since the epoch; null where nothing is missing that may be of it */
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
