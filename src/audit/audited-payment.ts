/**
 * One payment record of the period: its `routed` entries, and its deliveries. Hazard: there may be millions, so only an
 * entry's demands are stored, and a few numbers per delivery.
 */
import { type DeliveryFold, type DeliveryStatus, withStatus } from '../ports/delivery-order.js';
import type { EventType } from '../webhooks/limits.js';
import { type ActiveSpans, activeAt, wasActive } from './active-webhooks.js';
import { compareProgress, type Evidence, type OpenRetry, type Progress } from './answers.js';

export interface AuditedDelivery extends Evidence {
  readonly webhookId: number;
  /** How many entries list it; duplicate entries count twice, as they do for the record. */
  readonly listed: number;
  /** At both revisions of one entry. */
  readonly wasActiveThroughout: boolean;
  /** At one of the revisions of an entry. */
  readonly wasActive: boolean;
}

type Growing = { -readonly [Key in keyof AuditedDelivery]: AuditedDelivery[Key] };

export interface Payment {
  readonly accountId: number;
  readonly eventType: EventType;
  /** keyOfEvent */
  readonly key: string;
  /** Publication time of the record, ms since the epoch. */
  readonly at: number;
  /** Whether its consumer was not done with it when the audit began. */
  readonly isOpen: boolean;
}

/** The content of one `routed` entry about the record. */
export interface Routing {
  readonly routed: number;
  readonly confirmed: number;
  readonly webhooks: readonly number[];
  /** Up to `confirmed`; null if its revisions are those of another store. */
  readonly spans: ActiveSpans | null;
}

const NONE: readonly never[] = [];
const FIRST_ATTEMPT = { outcome: 'delivered', chain: 0, attempts: 1, at: 0, nextAttemptAt: null } as const;
/** Of most deliveries: they share it, for nothing outranks it. */
const DELIVERED: DeliveryFold = { last: FIRST_ATTEMPT, givenUp: null };

export class AuditedPayment implements Payment {
  readonly accountId: number;
  readonly eventType: EventType;
  readonly key: string;
  readonly at: number;
  readonly isOpen: boolean;
  /** Whether a dead letter is of the record itself. */
  isBuried = false;
  #entries = 0;
  /** The last revision used to route it. */
  #confirmed = Number.NEGATIVE_INFINITY;
  #isOfOtherStore = false;
  #deliveries: readonly Growing[] = NONE;

  constructor({ accountId, eventType, key, at, isOpen }: Payment) {
    this.accountId = accountId;
    this.eventType = eventType;
    this.key = key;
    this.at = at;
    this.isOpen = isOpen;
  }

  /** Whether its routing is known: it was routed, or has a dead letter of its own. */
  get isJoined(): boolean {
    return this.isRouted || (this.isBuried && !this.isOpen);
  }

  get isRouted(): boolean {
    return this.#entries > 0;
  }

  get deliveries(): readonly AuditedDelivery[] {
    return this.#deliveries;
  }

  routed({ routed, confirmed, webhooks, spans }: Routing): void {
    this.#entries += 1;
    this.#confirmed = Math.max(this.#confirmed, confirmed);
    this.#isOfOtherStore ||= spans === null;
    const listed = new Set(webhooks);
    for (const id of listed) this.#delivery(id).listed += 1;
    const [before, after] = [routed, confirmed].map((revision) => spans && activeAt(spans, this.eventType, revision));
    const throughout = before && after ? before.filter((id) => after.includes(id)) : listed;
    for (const id of throughout) this.#delivery(id).wasActiveThroughout = true;
    for (const id of [...(before ?? NONE), ...(after ?? NONE)]) if (this.#find(id)) this.#delivery(id).wasActive = true;
  }

  says(webhookId: number, status: DeliveryStatus): void {
    const delivery = this.#delivery(webhookId);
    if (delivery.fold === DELIVERED) return;
    delivery.fold = status.outcome === 'delivered' ? DELIVERED : withStatus(delivery.fold ?? undefined, status);
  }

  waits(webhookId: number, openRetry: OpenRetry): void {
    const delivery = this.#find(webhookId);
    if (!delivery) return;
    const known = delivery.openRetry;
    const isFurther = !known || (compareProgress(openRetry, known) || openRetry.due - known.due) >= 0;
    if (isFurther) delivery.openRetry = openRetry;
  }

  buried(webhookId: number, { chain, attempts }: Progress): void {
    const delivery = this.#find(webhookId);
    const letter = { chain, attempts };
    if (delivery && (!delivery.letter || compareProgress(letter, delivery.letter) > 0)) delivery.letter = letter;
  }

  /**
   * Whether an answer must exist. A record may be handed out twice, and abandoned the first time after its entry: deliveries
   * that only that entry lists are then not required. The record was done at least once, so deliveries listed in all entries
   * were done.
   */
  demands({ listed, wasActiveThroughout }: AuditedDelivery): boolean {
    return wasActiveThroughout || (listed > 0 && listed === this.#entries);
  }

  /**
   * Whether the dispatcher never had a reason to send it. A delivery that no entry lists was sent when the record was handed
   * out and abandoned before its entry: its revision is unknown, but not after the last entry's. While the record is open
   * its last entry may be still to come.
   * @param known the account's history
   */
  isUnexpected({ webhookId, listed, wasActive: isRight }: AuditedDelivery, known: ActiveSpans | null): boolean {
    if (isRight || this.#entries === 0 || this.#isOfOtherStore || !known) return false;
    if (listed > 0) return true;
    return !this.isOpen && !wasActive(known, { webhookId, eventType: this.eventType }, this.#confirmed);
  }

  #find(webhookId: number): Growing | undefined {
    return this.#deliveries.find((delivery) => delivery.webhookId === webhookId);
  }

  #delivery(webhookId: number): Growing {
    const found = this.#find(webhookId);
    if (found) return found;
    const flags = { listed: 0, wasActiveThroughout: false, wasActive: false };
    const delivery: Growing = { webhookId, ...flags, fold: null, openRetry: null, letter: null };
    this.#deliveries = [...this.#deliveries, delivery];
    return delivery;
  }
}
