/**
 * A payment topic as the audit read it: whether payments were removed from it that nobody was done with, or that the period
 * had. Goes by offsets alone: producers stamp payments, so the time of one record shows nothing about those before it.
 */
import type { Place } from '../delivery/record-place.js';
import type { Extent, ReceivedRecord } from '../ports/broker.js';
import type { Ranges } from '../ports/topic-records.js';
import { type Found, type Lost, NOWHERE, ReadTopic, removed } from './read-topic.js';

export class PaymentTopic {
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
    return new Map(
      [...this.#before].flatMap(([partition, { stable: from, next: to }]) =>
        from === undefined ? [] : [[partition, { from, to }] as const],
      ),
    );
  }

  saw(record: ReceivedRecord): void {
    this.#read.saw(record);
  }

  /** An entry names this record, of any time. */
  isNamed({ partition, offset, at }: Place): void {
    const oldest = this.#read.oldest(partition);
    if (oldest?.offset === offset && oldest.timestamp !== at) this.#wasRecreated = true;
  }

  /** The named record is of the period, and was not read: it is gone, or was published after the topic was read. */
  isUnread({ partition, offset }: Place): void {
    const { next, stable = next } = this.#before.get(partition) ?? NOWHERE;
    if (offset < stable) this.#isGone = true;
    else this.#later.set(partition, Math.max(offset, this.#later.get(partition) ?? 0));
  }

  /** @param unnamedFrom the start of the period, where the entries are lost that would name removed records; else null */
  lost(found: Found, unnamedFrom: number | null): Lost[] {
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
