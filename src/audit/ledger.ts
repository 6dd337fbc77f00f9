/**
 * The ledger of a period: its payment events, the webhooks each was due to, and what the deliveries topic says of each
 * delivery. An event is an account and its identity, however often it was published. Hazard: there may be millions, so
 * all that is kept of an event is its key, and of a delivery a few numbers.
 */
import { type DeliveryLogEntry, saidBy } from '../delivery/delivery-log.js';
import { type EventIdentity, eventOfKey, keyOfEvent } from '../delivery/event-identity.js';
import type { PaymentEvent } from '../delivery/payment-event.js';
import type { ReceivedRecord, UnreadableBatch } from '../ports/broker.js';
import { outranks, type Said } from '../ports/delivery-order.js';

/** A webhook that was active when the event was published. */
export interface DueWebhook {
  readonly webhookId: number;
  /** Whether it was removed or deactivated so soon that it may have been before the event was routed. */
  readonly goneSoon: boolean;
}

export interface LedgerDelivery extends DueWebhook, EventIdentity {
  readonly accountId: number;
  /** Null where nothing is logged. */
  readonly said: Said | null;
}

interface Line {
  readonly webhookId: number;
  goneSoon: boolean;
  said: Said | null;
}

type Lines = readonly Line[];

const NONE: readonly never[] = [];

export class Ledger {
  /** By account and the event's key. */
  readonly #accounts = new Map<number, Map<string, Lines>>();
  readonly #unburied = new Set<string>();
  /** Batches of payment topics that can't be read, by place and digest: those that nobody stepped over, as far as is known. */
  readonly #standing = new Map<string, string>();
  #unreadable = 0;
  #records = 0;
  #invalid = 0;

  /** A record that is a payment event, and whom it was due to. */
  payment({ accountId, id, cloudEvent }: Omit<PaymentEvent, 'type'>, due: readonly DueWebhook[]): void {
    const key = keyOfEvent({ eventId: id, eventSource: cloudEvent?.source ?? null });
    this.#records += 1;
    const events = this.#accounts.get(accountId) ?? new Map<string, Lines>();
    this.#accounts.set(accountId, events);
    const lines = events.get(key) ?? NONE;
    for (const { webhookId, goneSoon } of due) {
      const line = lineOf(lines, webhookId);
      // Published twice: it may count as inactive only where it was gone soon after both.
      if (line) line.goneSoon &&= goneSoon;
    }
    const added = due.filter(({ webhookId }) => !lineOf(lines, webhookId));
    events.set(key, added.length === 0 ? lines : [...lines, ...added.map(newLine)]);
  }

  /** A record that is none, by its place: it must be among the dead letters. */
  invalid(place: string): void {
    this.#records += 1;
    this.#invalid += 1;
    this.#unburied.add(place);
  }

  buried(place: string): void {
    this.#unburied.delete(place);
  }

  /** Of any time: no record of it tells when it was published. */
  unreadable({ topic, partition, first, digest }: UnreadableBatch): void {
    const place = `${topic}/${partition}/${first}`;
    this.#unreadable += 1;
    this.#standing.set(`${place} ${digest}`, place);
  }

  steppedOver(place: string, digest: string): void {
    this.#standing.delete(`${place} ${digest}`);
  }

  /** An entry of the deliveries topic, in any order; those of other events are none of it. */
  logged(entry: DeliveryLogEntry, { timestamp }: Pick<ReceivedRecord, 'timestamp'>): void {
    const { accountId, eventId, eventSource = null, webhookId } = entry;
    const key = keyOfEvent({ eventId, eventSource });
    const events = this.#accounts.get(accountId);
    const lines = events?.get(key);
    if (!events || !lines) return;
    // It was not due, and was sent all the same: the webhook was added before the event was routed.
    const line = lineOf(lines, webhookId) ?? newLine({ webhookId, goneSoon: false });
    if (!lines.includes(line)) events.set(key, [...lines, line]);
    const said = saidBy(entry, timestamp);
    if (!line.said || outranks(said, line.said)) line.said = said;
  }

  get records(): number {
    return this.#records;
  }

  /** Records that are no payment event. */
  get invalidRecords(): number {
    return this.#invalid;
  }

  /** Batches that can't be read. */
  get unreadableBatches(): number {
    return this.#unreadable;
  }

  /** The places of those that nobody stepped over, as far as the dead letters were read. */
  get standing(): Iterable<string> {
    return this.#standing.values();
  }

  get mayHaveLetters(): boolean {
    return this.#unburied.size > 0 || this.#standing.size > 0;
  }

  /** The places of those that are not among the dead letters, as far as those were read. */
  get unburied(): ReadonlySet<string> {
    return this.#unburied;
  }

  /** How many deliveries each event has. */
  *events(): Iterable<number> {
    for (const events of this.#accounts.values()) for (const lines of events.values()) yield lines.length;
  }

  *deliveries(): Iterable<LedgerDelivery> {
    for (const [accountId, events] of this.#accounts) {
      for (const [key, lines] of events) for (const line of lines) yield delivery(accountId, key, line);
    }
  }
}

function delivery(accountId: number, key: string, { webhookId, goneSoon, said }: Line): LedgerDelivery {
  const { eventId, eventSource } = eventOfKey(key) ?? { eventId: key, eventSource: null };
  return { accountId, eventId, eventSource, webhookId, goneSoon, said };
}

function newLine({ webhookId, goneSoon }: DueWebhook): Line {
  return { webhookId, goneSoon, said: null };
}

function lineOf(lines: Lines, webhookId: number): Line | undefined {
  return lines.find((line) => line.webhookId === webhookId);
}
