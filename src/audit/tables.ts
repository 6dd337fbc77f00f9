/** The audit's tables, and what their writers share: partitions by number, and the fold of a delivery. */
import { partitionText, readPaymentText } from '../delivery/record-place.js';
import type { CompletedAhead, Extent, ReceivedRecord } from '../ports/broker.js';
import { type DeliveryFold, type DeliveryStatus, statusOf, withStatus } from '../ports/delivery-order.js';
import type { Scratch } from '../ports/scratch.js';
import { AFTER, DONE, KNOWN, OLDEST, PART, SAY, SCHEMA } from './queries.js';

type Where = Pick<ReceivedRecord, 'topic' | 'partition'>;
/** Of a partition, as its columns; null, and nothing committed, in a topic that no group gets done. */
type Known = Readonly<Record<'paid' | 'first' | 'stable' | 'next', number | null> & { committed: number }>;
const UNKNOWN: Known = { paid: 0, first: null, stable: null, next: null, committed: 0 };
const NOTHING: CompletedAhead = { records: new Set(), parts: new Map() };

/** What a group is done with in a topic, by partition: everything before an offset, and records and parts after it. */
export interface GroupDone {
  readonly committed: ReadonlyMap<number, number>;
  readonly ahead: ReadonlyMap<number, CompletedAhead>;
}

export class AuditTables {
  readonly scratch: Scratch;
  readonly #parts = new Map<string, Known & { readonly part: number }>();
  /** By topic/partition, what its group is done with at or after the committed offset. */
  readonly #ahead = new Map<string, CompletedAhead>();
  readonly #seen = new Set<number>();

  /** @param scratch has no tables */
  constructor(scratch: Scratch) {
    this.scratch = scratch;
    scratch.define(SCHEMA);
  }

  /** A topic that a group gets done. @param extents asked for before what the group is done with */
  begin(topic: string, isPaid: boolean, { committed, ahead }: GroupDone, extents?: ReadonlyMap<number, Extent>): void {
    for (const [partition, done] of ahead) this.#ahead.set(partitionText({ topic, partition }), done);
    for (const partition of new Set([...(extents?.keys() ?? []), ...committed.keys()])) {
      const { first = null, next = null, stable = next } = extents?.get(partition) ?? {};
      const known = { paid: Number(isPaid), first, stable, next, committed: committed.get(partition) ?? 0 };
      this.#part({ topic, partition }, known);
    }
  }

  part(where: Where): number {
    return this.#part(where).part;
  }

  /**
   * Whether its group was not done with this record when the audit began. In a topic created later it was done with nothing.
   * @param member of a bundle: whether the group was not done with this part of the record
   */
  isOpen(place: Where & Pick<ReceivedRecord, 'offset'>, member?: number): boolean {
    if (place.offset < this.#part(place).committed) return false;
    const { records, parts } = this.#ahead.get(partitionText(place)) ?? NOTHING;
    const isMemberDone = member !== undefined && parts.get(place.offset)?.has(member);
    return !records.has(place.offset) && !isMemberDone;
  }

  /** Call once all deliveries of payments are in the tables. Parts of a payment's record have the ids of its webhooks. */
  markDone(): void {
    for (const [name, { parts }] of this.#ahead) {
      const known = this.#parts.get(name);
      if (!known?.paid) continue;
      for (const [offset, webhooks] of parts)
        for (const webhook of webhooks) this.scratch.run(DONE, { part: known.part, offset, webhook });
    }
  }

  #part({ topic, partition }: Where, known = UNKNOWN) {
    const name = partitionText({ topic, partition });
    const found = this.#parts.get(name);
    if (found) return found;
    const part = { part: this.#parts.size, ...known };
    this.#parts.set(name, part);
    this.scratch.run(PART, { ...part, topic, partition });
    return part;
  }

  /** Call in offset order within each partition. */
  saw(record: ReceivedRecord): void {
    const part = this.part(record);
    if (this.#seen.has(part)) return;
    this.#seen.add(part);
    this.scratch.run(OLDEST, { part, offset: record.offset, at: record.timestamp });
  }

  /** @param extents asked for after the topic was read: what retention deletes meanwhile counts as missing, or was read */
  endsAt(topic: string, extents: ReadonlyMap<number, Extent>): void {
    for (const [partition, { first, next }] of extents)
      this.scratch.run(AFTER, { part: this.part({ topic, partition }), first, next });
  }

  /** Null without the payment's place: another program wrote it. */
  about(of: { readonly payment?: string | null | undefined; readonly accountId: number; readonly webhookId: number }) {
    const place = readPaymentText(of.payment);
    const { accountId: account, webhookId: webhook } = of;
    return place && { part: this.part(place), offset: place.offset, at: place.at, account, webhook };
  }

  /** An entry or a request. Nothing outranks what was delivered, and most are: they need no fold. */
  says(about: NonNullable<ReturnType<AuditTables['about']>>, event: string, status: DeliveryStatus): void {
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
