/**
 * One payment record of the period: what `routed` entries say of it, and its deliveries. Hazard: there may be millions, so
 * of an entry only what it demands is kept, and of a delivery a few numbers.
 */
import { outranks, type Said } from '../ports/delivery-order.js';
import type { EventType } from '../webhooks/limits.js';
import { type ActiveSpans, activeAt, wasActive } from './active-webhooks.js';
import type { Evidence, Waiting } from './answers.js';

export interface DeliveryLine extends Evidence {
  readonly webhookId: number;
  /** In how many entries it stands; doubled ones count twice, as they do for the record. */
  readonly listed: number;
  /** At both revisions of one entry. */
  readonly wasActiveThroughout: boolean;
  /** At one of the revisions of an entry. */
  readonly wasActive: boolean;
}

type Growing = { -readonly [Key in keyof DeliveryLine]: DeliveryLine[Key] };

export interface Payment {
  readonly accountId: number;
  readonly eventType: EventType;
  /** keyOfEvent */
  readonly key: string;
  /** When the record was published, ms since the epoch. */
  readonly at: number;
  /** Whether its consumer was not done with it when the audit began. */
  readonly isOpen: boolean;
}

/** What one `routed` entry says of the record. */
export interface Routing {
  readonly routed: number;
  readonly confirmed: number;
  readonly webhooks: readonly number[];
  /** Up to `confirmed`; null where its revisions are those of another store. */
  readonly spans: ActiveSpans | null;
}

const NONE: readonly never[] = [];

export class PaymentLine implements Payment {
  readonly accountId: number;
  readonly eventType: EventType;
  readonly key: string;
  readonly at: number;
  readonly isOpen: boolean;
  /** Whether a dead letter is of the record itself. */
  isBuried = false;
  #entries = 0;
  /** The last revision by which it was routed. */
  #confirmed = Number.NEGATIVE_INFINITY;
  #isOfOtherStore = false;
  #lines: readonly Growing[] = NONE;

  constructor({ accountId, eventType, key, at, isOpen }: Payment) {
    this.accountId = accountId;
    this.eventType = eventType;
    this.key = key;
    this.at = at;
    this.isOpen = isOpen;
  }

  /** Whether it is known what was to become of it: it was routed, or buried as a whole. */
  get isJoined(): boolean {
    return this.isRouted || (this.isBuried && !this.isOpen);
  }

  get isRouted(): boolean {
    return this.#entries > 0;
  }

  get deliveries(): readonly DeliveryLine[] {
    return this.#lines;
  }

  routed({ routed, confirmed, webhooks, spans }: Routing): void {
    this.#entries += 1;
    this.#confirmed = Math.max(this.#confirmed, confirmed);
    this.#isOfOtherStore ||= spans === null;
    const listed = new Set(webhooks);
    for (const id of listed) this.#line(id).listed += 1;
    const [before, after] = [routed, confirmed].map((revision) => spans && activeAt(spans, this.eventType, revision));
    const throughout = before && after ? before.filter((id) => after.includes(id)) : listed;
    for (const id of throughout) this.#line(id).wasActiveThroughout = true;
    for (const id of [...(before ?? NONE), ...(after ?? NONE)]) if (this.#find(id)) this.#line(id).wasActive = true;
  }

  /** By an entry of the webhook's delivery. */
  says(webhookId: number, said: Said): void {
    const line = this.#line(webhookId);
    if (!line.said || outranks(said, line.said)) line.said = said;
  }

  waits(webhookId: number, waiting: Waiting): void {
    const line = this.#find(webhookId);
    if (!line) return;
    const { turn, due } = line.waiting ?? { turn: -1, due: 0 };
    if (waiting.turn > turn || (waiting.turn === turn && waiting.due >= due)) line.waiting = waiting;
  }

  buried(webhookId: number, turn: number): void {
    const line = this.#find(webhookId);
    if (line) line.letterTurn = Math.max(line.letterTurn ?? 0, turn);
  }

  /**
   * Whether there has to be an answer. A record may be handed out twice, and the first time be given up after its entry:
   * what only that entry lists is then nobody's. It was done once at least, so what all entries list was done.
   */
  demands({ listed, wasActiveThroughout }: DeliveryLine): boolean {
    return wasActiveThroughout || (listed > 0 && listed === this.#entries);
  }

  /**
   * Whether nothing has ever told the dispatcher to send it. One that no entry lists went out when the record was handed
   * out and given up before its entry: by what revision is not known, only that none came after the last entry's. While
   * the record is open its last entry may be still to come.
   * @param known the account's history
   */
  isUnexpected({ webhookId, listed, wasActive: isRight }: DeliveryLine, known: ActiveSpans | null): boolean {
    if (isRight || this.#entries === 0 || this.#isOfOtherStore || !known) return false;
    if (listed > 0) return true;
    return !this.isOpen && !wasActive(known, { webhookId, eventType: this.eventType }, this.#confirmed);
  }

  #find(webhookId: number): Growing | undefined {
    return this.#lines.find((line) => line.webhookId === webhookId);
  }

  #line(webhookId: number): Growing {
    const found = this.#find(webhookId);
    if (found) return found;
    const flags = { listed: 0, wasActiveThroughout: false, wasActive: false };
    const line: Growing = { webhookId, ...flags, said: null, waiting: null, letterTurn: null };
    this.#lines = [...this.#lines, line];
    return line;
  }
}
