/** The ledger of a period: its payment records by place, and what the other topics report about each. */

import { buriedBatch, type DeadLetter } from '../delivery/dead-letters.js';
import { partitionText, type RecordOffset, sourceText } from '../delivery/record-place.js';
import { NO_TIME, type UnreadableBatch } from '../ports/broker.js';
import { type Counts, isEnded } from './answers.js';
import { AuditedPayment, type Payment } from './audited-payment.js';

/** The place of a record that is no payment event, and not in the dead letters read so far. */
export interface Unburied extends Pick<RecordOffset, 'topic' | 'partition' | 'offset' | 'at'> {
  readonly isOpen: boolean;
}

export interface Entered {
  readonly place: Pick<RecordOffset, 'topic' | 'partition' | 'offset'>;
  readonly payment: AuditedPayment;
}

/** Records of the period that an open transaction held back, from the first one's offset on. */
export interface HeldBack extends Pick<RecordOffset, 'topic' | 'partition' | 'offset'> {
  readonly kind: 'held';
  readonly records: number;
}

interface Partition extends Pick<RecordOffset, 'topic' | 'partition'> {
  readonly payments: Map<number, AuditedPayment>;
}

/** More than a batch can hold: a foreign letter may name any offsets. */
const MOST_IN_A_BATCH = 1_000_000;

export class Ledger {
  readonly #partitions = new Map<string, Partition>();
  /** By `source`. */
  readonly #unburied = new Map<string, Unburied>();
  /** Unreadable batches of payment topics, by place and digest, that are not in the dead letters read so far. */
  readonly #unpassed = new Map<string, Unburied>();
  readonly #heldBack = new Map<string, HeldBack>();
  readonly #counts = { records: 0, invalid: 0, unreadable: 0 };

  payment({ topic, partition, offset }: RecordOffset, payment: Payment): void {
    const name = partitionText({ topic, partition });
    const known = this.#partitions.get(name) ?? { topic, partition, payments: new Map<number, AuditedPayment>() };
    this.#partitions.set(name, known);
    known.payments.set(offset, new AuditedPayment(payment));
    this.#counts.records += 1;
  }

  /** A record that is no payment event: it must be among the dead letters. */
  invalid(record: Unburied): void {
    this.#counts.records += 1;
    this.#counts.invalid += 1;
    this.#unburied.set(sourceText(record), record);
  }

  /** A dead letter of this record: also of a payment event, if another release considered it invalid. */
  buried(source: string): void {
    this.#unburied.delete(source);
    const [, partition = '', offset] = /^(.*)\/(\d+)$/s.exec(source) ?? [];
    const payment = this.#partitions.get(partition)?.payments.get(Number(offset));
    if (payment) payment.isBuried = true;
  }

  /** A dead letter of the payment record at this place: its account could not be read. */
  buriedAt(place: RecordOffset): void {
    const payment = this.find(place);
    if (payment) payment.isBuried = true;
  }

  /** Call in offset order; ignores records that were read meanwhile. */
  heldBack({ topic, partition, offset }: Pick<RecordOffset, 'topic' | 'partition' | 'offset'>): void {
    const name = partitionText({ topic, partition });
    const isRead = this.#partitions.get(name)?.payments.has(offset) || this.#unburied.has(`${name}/${offset}`);
    if (isRead) return;
    const known = this.#heldBack.get(name) ?? { kind: 'held', topic, partition, offset, records: 0 };
    this.#heldBack.set(name, { ...known, records: known.records + 1 });
    this.#counts.records += 1;
  }

  get held(): readonly HeldBack[] {
    return [...this.#heldBack.values()];
  }

  /** From any time: no record of the batch tells when it was published. */
  unreadable({ topic, partition, first: offset, digest }: UnreadableBatch, isOpen: boolean): void {
    const place = { topic, partition, offset };
    this.#counts.unreadable += 1;
    this.#unpassed.set(`${sourceText(place)} ${digest}`, { ...place, at: NO_TIME, isOpen });
  }

  /** A dead letter of this batch, whether it is still unreadable, or was read as records now. */
  batchBuried(letter: DeadLetter): void {
    this.#unpassed.delete(`${letter.source} ${letter.digest}`);
    const batch = buriedBatch(letter);
    if (!batch) return;
    const last = Math.min(batch.last, batch.first + MOST_IN_A_BATCH);
    for (let offset = batch.first; offset <= last; offset += 1) this.buried(sourceText({ ...batch, offset }));
  }

  /** Undefined for a record outside the period, and for one of a deleted topic with the same name. */
  find(place: RecordOffset): AuditedPayment | undefined {
    const found = this.#partitions.get(partitionText(place))?.payments.get(place.offset);
    return found?.at === place.at ? found : undefined;
  }

  get counts(): Pick<Counts, 'records' | 'invalid' | 'unreadable'> {
    return this.#counts;
  }

  get unpassed(): Iterable<Unburied> {
    return this.#unpassed.values();
  }

  get unburied(): Iterable<Unburied> {
    return this.#unburied.values();
  }

  *payments(): Iterable<Entered> {
    for (const { topic, partition, payments } of this.#partitions.values()) {
      for (const [offset, payment] of payments) yield { place: { topic, partition, offset }, payment };
    }
  }

  get needsLetters(): boolean {
    return (
      this.#unburied.size > 0 ||
      this.#counts.unreadable > 0 ||
      this.needsTiers ||
      this.#has(({ isRouted, isOpen }) => !isRouted && !isOpen)
    );
  }

  /** Whether an answer depends on the tiers. Read the dead letters first: otherwise exhausted deliveries count as well. */
  get needsTiers(): boolean {
    return this.#has(({ deliveries }) => deliveries.some((delivery) => !isEnded(delivery)));
  }

  #has(isIt: (payment: AuditedPayment) => boolean): boolean {
    for (const { payment } of this.payments()) if (isIt(payment)) return true;
    return false;
  }
}
