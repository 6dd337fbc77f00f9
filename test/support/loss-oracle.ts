/** The topics that a report has to call lost, looked up in the remaining facts. */
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { TOPICS } from './audit-fixture.js';
import { hasTime, isIn, type Left } from './audit-oracle.js';
import { formerly } from './history-topics.js';
import type { Fact } from './payment-histories.js';

type Of<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>;

export interface LeftTopics extends Left {
  /** Facts whose record was in a deliveries topic that was recreated since. */
  readonly former: ReadonlySet<Fact>;
}

const LOG = TOPICS.deliveries;
const REQUESTS = TOPICS.requests;
const PARTITIONS = [0, 1] as const;

export class LossOracle {
  readonly #left: LeftTopics;

  constructor(left: LeftTopics) {
    this.#left = left;
  }

  /** @param isMissing whether a delivery has no answer */
  tell(isMissing: boolean): string[] {
    const lost = TOPICS.payments.filter((topic) => {
      const own = this.#left.audited.includes(topic) ? this.#lostRecords(topic) : this.#isNeglected(topic);
      return own;
    });
    return [
      ...lost,
      ...(this.#logIsLost() ? [LOG] : []),
      ...(this.#requestsAreLost(isMissing) ? [REQUESTS] : []),
    ].sort();
  }

  #requestsAreLost(isMissing: boolean): boolean {
    const done = this.#done(REQUESTS, 0);
    const isUndone = done < this.#first(REQUESTS, 0) || done > this.#next(REQUESTS, 0);
    return isUndone || (isMissing && this.#mayLack(REQUESTS, 0));
  }

  #lostRecords(topic: string): boolean {
    const wasRemoved = PARTITIONS.some(
      (partition) => this.#done(topic, partition) < this.#first(topic, partition) || this.#hasGap(topic, partition),
    );
    const isShort = PARTITIONS.some((partition) => this.#done(topic, partition) > this.#next(topic, partition));
    if (this.#logIsLost() && PARTITIONS.some((partition) => this.#mayLack(topic, partition))) return true;
    return wasRemoved || isShort || this.#routed(topic).some((fact) => this.#isGone(fact) || this.#isOfFormer(fact));
  }

  /** An entry of the period, and its record is not there. */
  #isGone(fact: Of<'routed'>): boolean {
    const isThere = !fact.isFormer && this.#left.facts.some((one) => one.kind === 'payment' && one.p === fact.p);
    return !isThere && this.#isOfPeriod(fact);
  }

  /** It has the place of a record that is left, and another time. */
  #isOfFormer(fact: Of<'routed'>): boolean {
    const { topic, partition, offset } = this.#place(fact.p);
    return fact.isFormer === true && this.#kept(topic, partition).some((record) => record.offset === offset);
  }

  /** PAYMENT_TOPICS lacks it. */
  #isNeglected(topic: string): boolean {
    const isNamed = this.#routed(topic).length > 0;
    const isLeft = PARTITIONS.some((partition) => this.#done(topic, partition) < this.#next(topic, partition));
    return isNamed && (isLeft || this.#routed(topic).some((fact) => this.#isOfPeriod(fact)));
  }

  /** The offset before the first kept one is named by no entry or letter, and is no hole as others are in the partition. */
  #hasGap(topic: string, partition: number): boolean {
    const first = this.#first(topic, partition);
    const isBelow = (p: number) => this.#isAt(p, topic, partition) && this.#place(p).offset < first;
    const names = this.#left.facts.flatMap((fact) => {
      if ((fact.kind !== 'routed' && fact.kind !== 'buried') || !isBelow(fact.p)) return [];
      const at = this.#left.written.get(fact)?.timestamp ?? 0;
      return [{ offset: this.#place(fact.p).offset, at }];
    });
    const highest = Math.max(-1, ...names.map(({ offset }) => offset));
    // The first that named it.
    const { at = Number.NEGATIVE_INFINITY } = names.find(({ offset }) => offset === highest) ?? {};
    const offsets = this.#kept(topic, partition).map(({ offset }) => offset);
    const holes = offsets.slice(1).map((offset, index) => offset - (offsets[index] ?? 0) - 1);
    return highest + 1 + Math.max(0, ...holes) < first && !this.#mayLack(LOG, 0, at);
  }

  #logIsLost(): boolean {
    return this.#mayLack(LOG, 0);
  }

  /** Records were removed, and the oldest one left does not show that they were from before the period. */
  #mayLack(topic: string, partition: number, from = this.#left.period.from): boolean {
    const [oldest] = this.#kept(topic, partition);
    const isShown = oldest && hasTime(oldest.timestamp) && oldest.timestamp <= from;
    return this.#first(topic, partition) > 0 && !isShown;
  }

  #isOfPeriod({ p, isFormer }: Of<'routed'>): boolean {
    const { period, history } = this.#left;
    const { at = 0, event = null } = history.payments[p] ?? {};
    const isOf = period.account === null || event?.accountId === period.account;
    const time = isFormer ? formerly(at) : at;
    return isOf && hasTime(time) && isIn(period, time);
  }

  #routed(topic: string): readonly Of<'routed'>[] {
    return this.#all('routed').filter(({ p }) => PARTITIONS.some((partition) => this.#isAt(p, topic, partition)));
  }

  #isAt(p: number, topic: string, partition: number): boolean {
    const place = this.#place(p);
    return place.topic === topic && place.partition === partition;
  }

  #done(topic: string, partition: number): number {
    return this.#left.committed.get(`${topic}/${partition}`) ?? 0;
  }

  #first(topic: string, partition: number): number {
    return this.#kept(topic, partition)[0]?.offset ?? this.#next(topic, partition);
  }

  #next(topic: string, partition: number): number {
    const written = [...this.#left.written].filter(([fact]) => !this.#left.former.has(fact));
    return written.filter(([, record]) => record.topic === topic && record.partition === partition).length;
  }

  /** By offset. */
  #kept(topic: string, partition: number): readonly ReceivedRecord[] {
    const kept = this.#left.facts.flatMap((fact) => this.#left.written.get(fact) ?? []);
    const own = kept.filter((record) => record.topic === topic && record.partition === partition);
    return own.toSorted((one, other) => one.offset - other.offset);
  }

  #place(p: number): ReceivedRecord {
    for (const [fact, record] of this.#left.written) if (fact.kind === 'payment' && fact.p === p) return record;
    throw new Error(`payment ${p} was not published`);
  }

  #all<K extends Fact['kind']>(kind: K): readonly Of<K>[] {
    return this.#left.facts.filter((fact): fact is Of<K> => fact.kind === kind);
  }
}
