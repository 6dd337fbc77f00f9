/** What became of a delivery, by all that the topics know of it. */
import type { LedgerDelivery } from './ledger.js';
import type { Evidence, Waiting } from './open-deliveries.js';

export type Answer =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'exhausted' }
  /** By its record. */
  | { readonly kind: 'cancelled' }
  /** Inferred: no record at all, and its webhook was switched off before it was routed, so nothing was sent. */
  | { readonly kind: 'inactive' }
  | ({ readonly kind: 'retrying' } & Waiting)
  /** `why`: what is missing. */
  | { readonly kind: 'unanswered'; readonly why: string };

type About = Pick<LedgerDelivery, 'said' | 'goneSoon'>;

export function answerOf({ said, goneSoon }: About, evidence: Evidence): Answer {
  const outcome = said?.outcome;
  switch (outcome) {
    case 'delivered':
    case 'cancelled':
      return { kind: outcome };
    case 'exhausted':
      return evidence.exhaustedAt === null
        ? unanswered('it is exhausted, and not among the dead letters')
        : { kind: outcome };
    case 'retrying':
      return waitingFor(Date.parse(said?.nextAttemptAt ?? '') || 0, evidence);
    case undefined:
      return withoutEntry(goneSoon, evidence);
    default:
      return outcome satisfies never;
  }
}

/** An earlier record in a tier is that of a try that was made. */
function waitingFor(next: number, { waiting }: Evidence): Answer {
  return waiting && waiting.due >= next
    ? { kind: 'retrying', ...waiting }
    : unanswered('it is to be tried again, and in no tier');
}

/** Its entries may be lost, or not be written yet: the record of the tier or the dead letter comes with them, in any order. */
function withoutEntry(goneSoon: boolean, { waiting, exhaustedAt }: Evidence): Answer {
  if (waiting && waiting.due >= (exhaustedAt ?? 0)) return { kind: 'retrying', ...waiting };
  if (exhaustedAt !== null) return { kind: 'exhausted' };
  // When the event was routed, the webhook was gone: that leaves no entry.
  return goneSoon ? { kind: 'inactive' } : unanswered('nothing is logged of it');
}

function unanswered(why: string): Answer {
  return { kind: 'unanswered', why };
}
