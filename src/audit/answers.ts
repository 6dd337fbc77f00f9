/** The result of a delivery, from all evidence in the topics; and the counts of all results. */
import { type DeliveryFold, type DeliveryStatus, statusOf } from '../ports/delivery-order.js';

/** How far a delivery was when a record of it was written. */
export type Progress = Pick<DeliveryStatus, 'chain' | 'attempts'>;

/** A retry record or a request that its consumer is not done with. */
export interface OpenRetry extends Progress {
  /** Named by its delay; `requests`: it was sent again. */
  readonly tier: string;
  /** ms since the epoch */
  readonly due: number;
}

export interface Evidence {
  /** Of its entries and requests; null if there are none. */
  readonly fold: DeliveryFold | null;
  /** The furthest of its open records. */
  readonly openRetry: OpenRetry | null;
  /** The furthest of its dead letters. */
  readonly letter: Progress | null;
}

const BEGINNING: Progress = { chain: 0, attempts: 0 };

/** Negative: the one is before the other. */
export function compareProgress(one: Progress, other: Progress): number {
  return one.chain - other.chain || one.attempts - other.attempts;
}

export type Answer =
  | { readonly kind: 'delivered' | 'exhausted' | 'cancelled' }
  | ({ readonly kind: 'retrying' } & OpenRetry)
  /** Its payment's record will be redelivered to a consumer, which adds the missing records. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'unanswered'; readonly why: string };

/**
 * The retry record and the dead letter are published before the entry that reports them, so a reported one must exist.
 * @param isOpen whether the consumer is not done with the payment's record
 */
export function answerOf(evidence: Evidence, isOpen: boolean): Answer {
  const outcome = outcomeOf(evidence);
  switch (outcome) {
    case 'delivered':
    case 'cancelled':
      return { kind: outcome };
    case 'exhausted':
      if (hasLetter(evidence)) return { kind: outcome };
      return waits(evidence) ?? missing(isOpen, 'exhausted, but missing from the dead letters');
    case 'retrying':
      return waits(evidence) ?? missing(isOpen, 'to be retried, but in no retry tier');
    case undefined:
      return withoutEntry(evidence) ?? missing(isOpen, 'no record of the delivery');
    default:
      return outcome satisfies never;
  }
}

/** Whether no retry record can change the answer. */
export function isEnded(evidence: Evidence): boolean {
  const outcome = outcomeOf(evidence);
  return outcome === 'delivered' || outcome === 'cancelled' || (outcome === 'exhausted' && hasLetter(evidence));
}

export function isKnown({ fold, openRetry, letter }: Evidence): boolean {
  return fold !== null || openRetry !== null || letter !== null;
}

function outcomeOf({ fold }: Evidence) {
  return fold ? statusOf(fold).outcome : undefined;
}

function reported({ fold }: Evidence): Progress {
  return fold ? statusOf(fold) : BEGINNING;
}

/** An earlier dead letter belongs to an end before the one that is reported. */
function hasLetter(evidence: Evidence): boolean {
  return evidence.letter !== null && compareProgress(evidence.letter, reported(evidence)) >= 0;
}

/** An earlier retry record belongs to an attempt already made, or to a chain that a request ended. */
function waits(evidence: Evidence): Answer | null {
  const { openRetry } = evidence;
  return openRetry && compareProgress(openRetry, reported(evidence)) >= 0 ? { kind: 'retrying', ...openRetry } : null;
}

/** Its entries are lost. What is further came later. */
function withoutEntry({ openRetry, letter }: Evidence): Answer | null {
  if (openRetry && (!letter || compareProgress(openRetry, letter) > 0)) return { kind: 'retrying', ...openRetry };
  return letter && { kind: 'exhausted' };
}

function missing(isOpen: boolean, why: string): Answer {
  return isOpen ? { kind: 'waiting' } : { kind: 'unanswered', why };
}

export interface Counts {
  /** Payment records; a repeated event counts as often as it was published. */
  readonly records: number;
  /** Distinct events: by account and identity. */
  readonly events: number;
  readonly invalid: number;
  /** Unreadable batches of the payment topics, from any time. */
  readonly unreadable: number;
  readonly notDue: number;
  /** Records times webhooks. */
  readonly deliveries: number;
  readonly delivered: number;
  readonly exhausted: number;
  readonly cancelled: number;
  /** By tier, named by its delay. */
  readonly retrying: Readonly<Record<string, number>>;
  /** Deliveries and records that their consumer was not done with. */
  readonly waiting: number;
  readonly unanswered: number;
  readonly unexpected: number;
}

/** joined: by entries, or by a dead letter of the record itself. */
export type RecordState = 'joined' | 'waiting' | 'unanswered';

export class Tally {
  readonly #counts = {
    ...{ deliveries: 0, delivered: 0, exhausted: 0, cancelled: 0, retrying: 0 },
    ...{ waiting: 0, unanswered: 0, unexpected: 0 },
  };
  readonly #retrying = new Map<string, number>();
  /** Whether an event may be due, by account and key: a text made of both would take more memory. */
  readonly #events = new Map<number, Map<string, boolean>>();

  record(state: RecordState): void {
    if (state !== 'joined') this.#counts[state] += 1;
  }

  /** @param mayBeDue false if this record is known to match no webhook: an event may have several records */
  event({ accountId, key }: { accountId: number; key: string }, mayBeDue: boolean): void {
    const events = this.#events.get(accountId) ?? new Map<string, boolean>();
    this.#events.set(accountId, events);
    events.set(key, mayBeDue || (events.get(key) ?? false));
  }

  delivery(answer: Answer, isUnexpected: boolean): void {
    this.#counts.deliveries += 1;
    this.#counts[answer.kind] += 1;
    if (isUnexpected) this.#counts.unexpected += 1;
    if (answer.kind === 'retrying') this.#retrying.set(answer.tier, (this.#retrying.get(answer.tier) ?? 0) + 1);
  }

  get counts(): Omit<Counts, 'records' | 'invalid' | 'unreadable'> {
    let [events, notDue] = [0, 0];
    for (const ofAccount of this.#events.values()) {
      events += ofAccount.size;
      for (const mayBeDue of ofAccount.values()) if (!mayBeDue) notDue += 1;
    }
    return { events, notDue, ...this.#counts, retrying: Object.fromEntries(this.#retrying) };
  }
}
