/** The report of a period, for auditors: counts, open deliveries, missing records. */
import { webhookMessageId } from '../delivery/delivery.js';
import { eventOfKey } from '../delivery/payment/parsed-payment.js';
import { sourceText } from '../delivery/record-place.js';
import { LATEST_TIME_MS } from '../ports/broker.js';
import type { Histories } from './active-webhooks.js';
import { type Answer, answerOf, type Counts, isKnown, type RecordState, Tally } from './answers.js';
import type { AuditedDelivery, AuditedPayment } from './audited-payment.js';
import type { Entered, HeldBack, Ledger, Unburied } from './ledger.js';
import type { Lost } from './read-topic.js';

interface About {
  /** The webhook-id. */
  readonly id: string;
  readonly eventId: string;
  /** Of a CloudEvent only. */
  readonly eventSource?: string;
  readonly accountId: number;
  readonly webhookId: number;
  /** The place of the payment's record, topic/partition/offset. */
  readonly source: string;
}

export interface Open extends About {
  readonly kind: 'open';
  readonly tier: string;
  /** ISO 8601, UTC, ms. */
  readonly nextAttemptAt: string;
}

/** For a whole payment record, id and webhookId are null; for a record that is no payment event, everything but `source`. */
export interface Unanswered {
  readonly kind: 'unanswered';
  readonly why: string;
  readonly id: string | null;
  readonly eventId: string | null;
  readonly eventSource?: string;
  readonly accountId: number | null;
  readonly webhookId: number | null;
  readonly source: string;
}

/** A delivery to a webhook that was not active at any routing of its payment. */
export interface Unexpected extends About {
  readonly kind: 'unexpected';
}

interface Answered {
  readonly entered: Entered;
  readonly delivery: AuditedDelivery;
  readonly answer: Answer;
}

const NO_DELIVERY = { id: null, webhookId: null } as const;
const NO_EVENT = { ...NO_DELIVERY, eventId: null, accountId: null } as const;
const UNROUTED = 'done, but no entry says where it was routed';
const UNBURIED = 'not a payment event, but missing from the dead letters';
const UNREAD = 'its batch is unreadable, and missing from the dead letters';

export class Report {
  /** Topics that do not, or may not, have all records of the period. */
  readonly lost: Lost[] = [];
  readonly #ledger: Ledger;
  readonly #histories: Histories;

  constructor(ledger: Ledger, histories: Histories) {
    this.#ledger = ledger;
    this.#histories = histories;
  }

  counts(): Counts {
    const tally = new Tally();
    for (const entered of this.#ledger.payments()) this.#count(entered, tally);
    for (const record of this.#ledger.unburied) tally.record(stateWithout(record));
    for (const batch of this.#ledger.unpassed) tally.record(stateWithout(batch));
    for (const { records } of this.held) for (let n = 0; n < records; n += 1) tally.record('waiting');
    return { ...this.#ledger.counts, ...tally.counts };
  }

  get held(): readonly HeldBack[] {
    return this.#ledger.held;
  }

  *open(): Iterable<Open> {
    for (const { entered, delivery, answer } of this.#all()) {
      if (answer.kind !== 'retrying') continue;
      // A foreign record may contain any number.
      const nextAttemptAt = new Date(Math.min(answer.due, LATEST_TIME_MS)).toISOString();
      yield { kind: 'open', ...about(entered, delivery), tier: answer.tier, nextAttemptAt };
    }
  }

  *unanswered(): Iterable<Unanswered> {
    for (const entered of this.#ledger.payments()) yield* this.#unansweredOf(entered);
    const without = (why: string, place: Unburied) =>
      ({ kind: 'unanswered', why, ...NO_EVENT, source: sourceText(place) }) as const;
    for (const record of this.#ledger.unburied) if (!record.isOpen) yield without(UNBURIED, record);
    for (const batch of this.#ledger.unpassed) if (!batch.isOpen) yield without(UNREAD, batch);
  }

  *unexpected(): Iterable<Unexpected> {
    for (const { entered, delivery } of this.#all()) {
      if (this.#isUnexpected(entered, delivery)) yield { kind: 'unexpected', ...about(entered, delivery) };
    }
  }

  *#unansweredOf(entered: Entered): Iterable<Unanswered> {
    const { place, payment } = entered;
    const { accountId, key } = payment;
    if (stateOf(payment) === 'unanswered') {
      yield { kind: 'unanswered', why: UNROUTED, ...NO_DELIVERY, ...event(key), accountId, source: sourceText(place) };
    }
    for (const { delivery, answer } of this.#answers(entered)) {
      if (answer.kind === 'unanswered') yield { ...answer, ...about(entered, delivery) };
    }
  }

  #count(entered: Entered, tally: Tally): void {
    const { payment } = entered;
    let deliveries = 0;
    for (const { delivery, answer } of this.#answers(entered)) {
      deliveries += 1;
      tally.delivery(answer, this.#isUnexpected(entered, delivery));
    }
    tally.record(stateOf(payment));
    tally.event(payment, deliveries > 0 || !payment.isRouted);
  }

  *#all(): Iterable<Answered> {
    for (const entered of this.#ledger.payments()) yield* this.#answers(entered);
  }

  /** Recomputed on each call: there may be millions. */
  *#answers(entered: Entered): Iterable<Answered> {
    const { payment } = entered;
    for (const delivery of payment.deliveries) {
      if (isKnown(delivery) || payment.demands(delivery))
        yield { entered, delivery, answer: answerOf(delivery, payment.isOpen) };
    }
  }

  #isUnexpected({ payment }: Entered, delivery: AuditedDelivery): boolean {
    return payment.isUnexpected(delivery, this.#histories.known(payment.accountId));
  }
}

function stateOf(payment: AuditedPayment): RecordState {
  return payment.isJoined ? 'joined' : stateWithout(payment);
}

/** Of a record without any evidence. */
function stateWithout({ isOpen }: Pick<Unburied, 'isOpen'>): RecordState {
  return isOpen ? 'waiting' : 'unanswered';
}

function about({ place, payment }: Entered, { webhookId }: AuditedDelivery): About {
  const { accountId, key } = payment;
  const named = event(key);
  const id = webhookMessageId(accountId, { eventSource: null, ...named }, webhookId);
  return { id, ...named, accountId, webhookId, source: sourceText(place) };
}

function event(key: string): Pick<About, 'eventId' | 'eventSource'> {
  const { eventId, eventSource } = eventOfKey(key) ?? { eventId: key, eventSource: null };
  return { eventId, ...(eventSource !== null && { eventSource }) };
}
