/** The audit's tables, and what their writers share: the numbers of partitions, and the fold of a delivery. */
import { partitionText, readPaymentText } from '../delivery/record-place.js';
import type { Extent, ReceivedRecord } from '../ports/broker.js';
import { type DeliveryFold, type DeliveryStatus, statusOf, withStatus } from '../ports/delivery-order.js';
import type { Scratch } from '../ports/scratch.js';
import { AFTER, BEFORE, KNOWN, OLDEST, PART, SAY, SCHEMA } from './queries.js';

export type Extents = ReadonlyMap<number, Extent>;
type Where = Pick<ReceivedRecord, 'topic' | 'partition'>;

/** A delivery's payment record, as $part, $offset, $at, and its account and webhook. */
export interface About {
  readonly part: number;
  readonly offset: number;
  readonly at: number;
  readonly account: number;
  readonly webhook: number;
}

export class AuditTables {
  readonly scratch: Scratch;
  readonly #parts = new Map<string, number>();
  readonly #committed = new Map<number, number>();
  readonly #seen = new Set<number>();

  /** @param scratch has no tables */
  constructor(scratch: Scratch) {
    this.scratch = scratch;
    scratch.define(SCHEMA);
  }

  /**
   * A topic that a group gets done.
   * @param extents asked for before the committed offsets: what was removed by then was done by then, or never; null: it is evidence
   */
  begin(topic: string, paid: boolean, extents: Extents | null, committed: ReadonlyMap<number, number>): void {
    for (const partition of new Set([...(extents?.keys() ?? []), ...committed.keys()])) {
      const { first = null, next = null, stable = next } = extents?.get(partition) ?? {};
      const done = committed.get(partition) ?? 0;
      const part = this.part({ topic, partition });
      this.#committed.set(part, done);
      this.scratch.run(BEFORE, { part, paid: Number(paid), first, stable, next, committed: done });
    }
  }

  part({ topic, partition }: Where): number {
    const name = partitionText({ topic, partition });
    const known = this.#parts.get(name);
    if (known !== undefined) return known;
    const part = this.#parts.size;
    this.#parts.set(name, part);
    this.scratch.run(PART, { part, topic, partition });
    return part;
  }

  /** Whether its group was not done with this record when the audit began. In a topic created later it was done with nothing. */
  isOpen(place: Where & Pick<ReceivedRecord, 'offset'>): boolean {
    return place.offset >= (this.#committed.get(this.part(place)) ?? 0);
  }

  /** Call in offset order within each partition. */
  saw(record: ReceivedRecord): void {
    const part = this.part(record);
    if (this.#seen.has(part)) return;
    this.#seen.add(part);
    this.scratch.run(OLDEST, { part, offset: record.offset, at: record.timestamp });
  }

  /** @param extents asked for after the topic was read: what retention deletes meanwhile counts as missing, or was read */
  endsAt(topic: string, extents: Extents): void {
    for (const [partition, { first, next }] of extents)
      this.scratch.run(AFTER, { part: this.part({ topic, partition }), first, next });
  }

  /** Null without the payment's place: another program wrote it. */
  about(of: { readonly payment?: string | null | undefined; readonly accountId: number; readonly webhookId: number }) {
    const place = readPaymentText(of.payment);
    if (!place) return null;
    return { part: this.part(place), offset: place.offset, at: place.at, account: of.accountId, webhook: of.webhookId };
  }

  /** An entry or a request. Nothing outranks what was delivered, and most are: they need no fold. */
  says(about: About, event: string, status: DeliveryStatus): void {
    const known = this.scratch.row<{ event: string; outcome: string | null; fold: string | null }>(KNOWN, { ...about });
    const asked = Number(status.chain > 0 && status.outcome !== 'cancelled');
    if (known?.event !== event || (known.outcome === 'delivered' && !asked)) return;
    const before = known.fold === null ? undefined : (JSON.parse(known.fold) as DeliveryFold);
    const isDelivered = known.outcome === 'delivered' || status.outcome === 'delivered';
    const fold = isDelivered ? null : withStatus(before, status);
    const { outcome, chain, attempts } = fold ? statusOf(fold) : { ...status, outcome: 'delivered' };
    this.scratch.run(SAY, { ...about, outcome, chain, attempts, fold: fold && JSON.stringify(fold), asked });
  }
}
