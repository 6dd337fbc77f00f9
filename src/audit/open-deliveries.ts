/**
 * Deliveries of a ledger that the deliveries topic alone does not answer for: what waits must be in a tier, what is
 * exhausted among the dead letters, and of one with no entry either may know.
 */
import { type DeadLetterReason, END_REASONS, readDeadLetter } from '../delivery/dead-letters.js';
import { dueOf, fromRetryRecord, webhookMessageId } from '../delivery/delivery.js';
import type { NewRecord, ReceivedRecord } from '../ports/broker.js';
import type { LedgerDelivery } from './ledger.js';

export interface Waiting {
  readonly tier: string;
  /** ms since the epoch */
  readonly due: number;
}

export interface Evidence {
  /** Its retry record, the latest by due time: a tier keeps those that are done. */
  readonly waiting: Waiting | null;
  /** When its last dead letter was published, ms since the epoch. */
  readonly exhaustedAt: number | null;
}

const ENDS: ReadonlySet<DeadLetterReason> = new Set<DeadLetterReason>(END_REASONS);

const NO_EVIDENCE: Evidence = { waiting: null, exhaustedAt: null };

export class OpenDeliveries {
  /** By webhook-id: headers of records have event ids as UTF-8, which does not tell halves of surrogate pairs apart. */
  readonly #open = new Map<string, Evidence>();
  /** Whether one of them may be in a tier. */
  readonly mayWait: boolean;

  constructor(deliveries: Iterable<LedgerDelivery>) {
    let mayWait = false;
    for (const delivery of deliveries) {
      if (isAnswered(delivery)) continue;
      this.#open.set(idOf(delivery), NO_EVIDENCE);
      mayWait ||= delivery.said?.outcome !== 'exhausted';
    }
    this.mayWait = mayWait;
  }

  get size(): number {
    return this.#open.size;
  }

  /** A record of a tier. */
  waits(record: NewRecord, tier: string): void {
    const id = fromRetryRecord(record)?.id ?? '';
    const known = this.#open.get(id);
    const due = dueOf(record);
    if (known && due >= (known.waiting?.due ?? 0)) this.#open.set(id, { ...known, waiting: { tier, due } });
  }

  /** A dead letter. */
  buried(record: ReceivedRecord): void {
    const { reason, deliveryId } = readDeadLetter(record);
    const known = this.#open.get(deliveryId ?? '');
    if (!known || deliveryId === null || reason === null || !ENDS.has(reason)) return;
    const exhaustedAt = Math.max(known.exhaustedAt ?? 0, record.timestamp);
    this.#open.set(deliveryId, { ...known, exhaustedAt });
  }

  of(delivery: LedgerDelivery): Evidence {
    return isAnswered(delivery) ? NO_EVIDENCE : (this.#open.get(idOf(delivery)) ?? NO_EVIDENCE);
  }
}

function isAnswered({ said }: LedgerDelivery): boolean {
  return said?.outcome === 'delivered' || said?.outcome === 'cancelled';
}

/** The webhook-id of a delivery. */
export function idOf({ accountId, webhookId, ...event }: LedgerDelivery): string {
  return webhookMessageId(accountId, event, webhookId);
}
