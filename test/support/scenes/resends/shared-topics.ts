/**
 * Topics of one partition each, in memory, which several dispatchers consume as one group. A crash or a rebalance hands out
 * again what is not committed, and also what is done behind an unfinished record.
 */
import type { NewRecord, ReceivedRecord } from '../../../../src/ports/broker.js';

/** A record that a dispatcher has. It has lost the record once its topic has another `term`. */
export interface HandedOut {
  readonly record: ReceivedRecord;
  readonly term: number;
}

interface Consumed<Owner> {
  owner: Owner | null;
  /** Counts the owners. */
  term: number;
  readonly done: Set<number>;
  /** Parts of records that are not done. */
  readonly parts: Map<number, Set<number>>;
  readonly outstanding: Set<number>;
}

export class SharedTopics<Owner> {
  readonly #records = new Map<string, ReceivedRecord[]>();
  readonly #consumed = new Map<string, Consumed<Owner>>();

  get names(): string[] {
    return [...this.#records.keys()];
  }

  of(topic: string): readonly ReceivedRecord[] {
    return this.#records.get(topic) ?? [];
  }

  /** @returns the records' offsets */
  append(topic: string, records: readonly NewRecord[], timestamp: number): number[] {
    const all = this.#records.get(topic) ?? [];
    this.#records.set(topic, all);
    return records.map((record) => all.push({ ...record, topic, partition: 0, offset: all.length, timestamp }) - 1);
  }

  ownerOf(topic: string): Owner | null {
    return this.#consumedOf(topic).owner;
  }

  /** @param keepsDone whether the former owner committed in time; else `uncommitted` done records are handed out again too */
  assign(
    topic: string,
    owner: Owner | null,
    { keepsDone, uncommitted = 0 }: { keepsDone: boolean; uncommitted?: number },
  ) {
    const consumed = this.#consumedOf(topic);
    const { done } = consumed;
    consumed.owner = owner;
    consumed.term += 1;
    consumed.outstanding.clear();
    if (keepsDone) return;
    let committed = 0;
    while (done.has(committed)) committed += 1;
    for (const offset of [...done]) if (offset >= committed - uncommitted) done.delete(offset);
    consumed.parts.clear();
  }

  /** The first record that nobody has and that is not done. */
  next(topic: string): ReceivedRecord | null {
    const { done, outstanding } = this.#consumedOf(topic);
    return this.of(topic).find(({ offset }) => !done.has(offset) && !outstanding.has(offset)) ?? null;
  }

  handOut(record: ReceivedRecord): HandedOut {
    const { term, outstanding } = this.#consumedOf(record.topic);
    outstanding.add(record.offset);
    return { record, term };
  }

  isHeld({ record, term }: HandedOut): boolean {
    return this.#consumedOf(record.topic).term === term;
  }

  partDone(handedOut: HandedOut, part: number): void {
    if (!this.isHeld(handedOut)) return;
    const { offset, topic } = handedOut.record;
    const { parts } = this.#consumedOf(topic);
    parts.set(offset, (parts.get(offset) ?? new Set()).add(part));
  }

  isPartDone({ record }: HandedOut, part: number): boolean {
    return this.#consumedOf(record.topic).parts.get(record.offset)?.has(part) === true;
  }

  /** Its handler has ended. Rejected records are handed out again. */
  settle(handedOut: HandedOut, isDone: boolean): void {
    if (!this.isHeld(handedOut)) return;
    const { record } = handedOut;
    const { done, outstanding } = this.#consumedOf(record.topic);
    outstanding.delete(record.offset);
    if (isDone) done.add(record.offset);
  }

  #consumedOf(topic: string): Consumed<Owner> {
    const nothing = { done: new Set<number>(), parts: new Map<number, Set<number>>(), outstanding: new Set<number>() };
    const consumed = this.#consumed.get(topic) ?? { owner: null, term: 0, ...nothing };
    this.#consumed.set(topic, consumed);
    return consumed;
  }
}
