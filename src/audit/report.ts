/** A ledger and what the tiers and dead letters add to it, as an auditor asks: how many of each, what is open, what is missing. */
import { type Answer, answerOf } from './answers.js';
import type { Ledger, LedgerDelivery } from './ledger.js';
import { idOf, type OpenDeliveries } from './open-deliveries.js';

export interface Counts {
  /** Payment records, a repeated event as often as it was published. */
  readonly records: number;
  /** Different events: accounts and identities. */
  readonly events: number;
  /** Records that are no payment event. */
  readonly invalid: number;
  /** Batches of the payment topics that can't be read, of any time. */
  readonly unreadable: number;
  /** Events with no webhook to go to. */
  readonly notDue: number;
  /** Events times webhooks: the sum of those below but for the records that are no payment event. */
  readonly deliveries: number;
  readonly delivered: number;
  readonly exhausted: number;
  /** By record. */
  readonly cancelled: number;
  /** Without one: the webhook was switched off before the event was routed, and nothing was sent. */
  readonly inactive: number;
  /** By tier, the delay it bears in its name. */
  readonly retrying: Readonly<Record<string, number>>;
  readonly unanswered: number;
}

interface About {
  /** The webhook-id. */
  readonly id: string;
  readonly eventId: string;
  /** Of a CloudEvent only. */
  readonly eventSource?: string;
  readonly accountId: number;
  readonly webhookId: number;
}

export interface Open extends About {
  readonly kind: 'open';
  readonly tier: string;
  /** ISO 8601, UTC, ms. */
  readonly nextAttemptAt: string;
}

/** A delivery, or a payment record that is no event: that one has its place as `source`, and nothing of a delivery. */
export type Unanswered = { readonly kind: 'unanswered'; readonly why: string } & (
  | (About & { readonly source: null })
  | ({ readonly [Key in keyof About]: null } & { readonly source: string })
);

/** What a Date can say at most. */
const LAST_TIME_MS = 8.64e15;
const NO_DELIVERY = { id: null, eventId: null, accountId: null, webhookId: null } as const;

export class Report {
  readonly #ledger: Ledger;
  readonly #open: OpenDeliveries;

  constructor(ledger: Ledger, open: OpenDeliveries) {
    this.#ledger = ledger;
    this.#open = open;
  }

  counts(): Counts {
    const { records, invalidRecords: invalid, unreadableBatches: unreadable, unburied, standing } = this.#ledger;
    const by = { delivered: 0, exhausted: 0, cancelled: 0, inactive: 0, unanswered: 0 };
    const retrying = new Map<string, number>();
    let deliveries = 0;
    for (const [, answer] of this.#answers()) {
      deliveries += 1;
      if (answer.kind === 'retrying') retrying.set(answer.tier, (retrying.get(answer.tier) ?? 0) + 1);
      else by[answer.kind] += 1;
    }
    const unanswered = by.unanswered + unburied.size + [...standing].length;
    return {
      records,
      ...this.#events(),
      invalid,
      unreadable,
      deliveries,
      ...by,
      retrying: Object.fromEntries(retrying),
      unanswered,
    };
  }

  *open(): Iterable<Open> {
    for (const [delivery, answer] of this.#answers()) {
      if (answer.kind !== 'retrying') continue;
      // A stranger's record may name any number.
      const nextAttemptAt = new Date(Math.min(answer.due, LAST_TIME_MS)).toISOString();
      yield { kind: 'open', ...about(delivery), tier: answer.tier, nextAttemptAt };
    }
  }

  *unanswered(): Iterable<Unanswered> {
    for (const [delivery, answer] of this.#answers()) {
      if (answer.kind === 'unanswered') yield { ...answer, ...about(delivery), source: null };
    }
    const why = 'it is no payment event, and not among the dead letters';
    for (const source of this.#ledger.unburied) yield { kind: 'unanswered', why, ...NO_DELIVERY, source };
    const unread = 'its batch can not be read, and nobody stepped over it';
    for (const source of this.#ledger.standing) yield { kind: 'unanswered', why: unread, ...NO_DELIVERY, source };
  }

  /** Made anew each time they are asked for: there may be millions. */
  *#answers(): Iterable<readonly [LedgerDelivery, Answer]> {
    for (const delivery of this.#ledger.deliveries()) yield [delivery, answerOf(delivery, this.#open.of(delivery))];
  }

  #events(): Pick<Counts, 'events' | 'notDue'> {
    const counts = { events: 0, notDue: 0 };
    for (const deliveries of this.#ledger.events()) {
      counts.events += 1;
      if (deliveries === 0) counts.notDue += 1;
    }
    return counts;
  }
}

function about(delivery: LedgerDelivery): About {
  const { accountId, eventId, eventSource, webhookId } = delivery;
  const source = eventSource === null ? {} : { eventSource };
  return { id: idOf(delivery), eventId, ...source, accountId, webhookId };
}
