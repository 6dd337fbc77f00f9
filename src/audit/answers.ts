/** The result of a delivery, from all evidence in the topics; and the counts of all results. */
import type { Said } from '../ports/delivery-order.js';

/** A retry record that its consumer is not done with. */
export interface OpenRetry {
  readonly tier: string;
  readonly turn: number;
  /** ms since the epoch */
  readonly due: number;
}

export interface Evidence {
  /** From its entries; null if there are none. */
  readonly said: Said | null;
  /** Of its retry records, the one with the highest turn. */
  readonly openRetry: OpenRetry | null;
  /** The highest turn of its dead letters. */
  readonly letterTurn: number | null;
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
  const { said } = evidence;
  const outcome = said?.outcome;
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
  const outcome = evidence.said?.outcome;
  return outcome === 'delivered' || outcome === 'cancelled' || (outcome === 'exhausted' && hasLetter(evidence));
}

export function isKnown({ said, openRetry, letterTurn }: Evidence): boolean {
  return said !== null || openRetry !== null || letterTurn !== null;
}

/** A dead letter of an earlier turn belongs to the end before a replay, unless that end holds again. */
function hasLetter({ said, letterTurn }: Evidence): boolean {
  return letterTurn !== null && letterTurn >= (said?.endTurn ?? said?.turn ?? 0);
}

/** A retry record of an earlier turn belongs to an attempt already made. */
function waits({ said, openRetry }: Evidence): Answer | null {
  return openRetry && openRetry.turn >= (said?.turn ?? 0) ? { kind: 'retrying', ...openRetry } : null;
}

/** Its entries are lost. The higher turn came later: a replay's record, or the dead letter of a last attempt. */
function withoutEntry({ openRetry, letterTurn }: Evidence): Answer | null {
  if (openRetry && openRetry.turn > (letterTurn ?? -1)) return { kind: 'retrying', ...openRetry };
  return letterTurn === null ? null : { kind: 'exhausted' };
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
