/** The report of a period, for auditors: counts, open deliveries, missing records. Read before its scratch tables are closed. */

import { type RecordOffset, sourceText } from '../delivery/record-place.js';
import { eventOfKey, webhookMessageId } from '../payments/parsed-payment.js';
import type { Scratch } from '../ports/scratch.js';
import type { Lost } from './lost.js';
import * as queries from './queries.js';

/** open: it waits in a tier. unanswered: there is no proof of its end. unexpected: its webhook was never due. */
export interface Finding {
  readonly kind: 'open' | 'unanswered' | 'unexpected';
  /** Of an unanswered one. */
  readonly why?: string;
  /** The webhook-id. Null, as webhookId, for a whole payment record. */
  readonly id: string | null;
  /** Null, as accountId, for a record that is no payment event. */
  readonly eventId: string | null;
  /** Of a CloudEvent only. */
  readonly eventSource?: string;
  readonly accountId: number | null;
  readonly webhookId: number | null;
  /** The place of the payment's record, topic/partition/offset. */
  readonly source: string;
  /** Of an open one, as the time: ISO 8601, UTC, ms. */
  readonly tier?: string;
  readonly nextAttemptAt?: string;
}

/** Records of the period that an open transaction held back, from the first one's offset on. */
export interface HeldBack extends Pick<RecordOffset, 'topic' | 'partition' | 'offset'> {
  readonly kind: 'held';
  readonly records: number;
}

/**
 * records: payment records, a repeated event counts as often as it was published. events: distinct by account and identity.
 * unreadable: batches of the payment topics, from any time. deliveries: records times webhooks. waiting: deliveries and
 * records that their consumer was not done with. retrying: by tier, named by its delay.
 */
export type Counts = { readonly retrying: Readonly<Record<string, number>> } & Readonly<
  Record<'records' | 'events' | 'invalid' | 'unreadable' | 'notDue' | 'deliveries' | 'unexpected' | Answer, number>
>;
type Answer = 'delivered' | 'exhausted' | 'cancelled' | 'waiting' | 'unanswered';

interface Row extends Pick<RecordOffset, 'topic' | 'partition' | 'offset'> {
  readonly account: number | null;
  readonly webhook: number | null;
  readonly event: string | null;
  readonly why?: string;
  readonly tier?: string;
  readonly due?: number;
}

const FINDINGS = { open: queries.WAITING, unanswered: queries.UNANSWERED, unexpected: queries.UNEXPECTED };

export class Report {
  readonly counts: Counts;
  readonly lost: Lost[] = [];
  readonly held: readonly HeldBack[];
  readonly #scratch: Scratch;

  /** @param scratch with tables of which all evidence was read */
  constructor(scratch: Scratch) {
    this.#scratch = scratch;
    scratch.run(queries.EVENTS);
    const counts = scratch.row(queries.COUNTS) as Counts & { retrying: string };
    this.counts = { ...counts, retrying: JSON.parse(counts.retrying) };
    this.held = [...scratch.rows<HeldBack>(queries.HELD)];
  }

  *found(kind: Finding['kind']): Iterable<Finding> {
    const query = `SELECT * FROM (${FINDINGS[kind]}) JOIN parts USING (part)`;
    for (const row of this.#scratch.rows<Row>(query)) yield { kind, ...findingOf(row) };
  }
}

function findingOf({ account: accountId, webhook: webhookId, event, why, tier, due, ...place }: Row) {
  const { eventId, eventSource } = (event === null ? null : eventOfKey(event)) ?? { eventId: event, eventSource: null };
  const isDelivery = webhookId !== null && accountId !== null && eventId !== null;
  const id = isDelivery ? webhookMessageId(accountId, { eventId, eventSource }, webhookId) : null;
  const about = { id, eventId, ...(eventSource !== null && { eventSource }), accountId, webhookId };
  const waits = tier !== undefined && due !== undefined && { tier, nextAttemptAt: new Date(due).toISOString() };
  return { ...(why && { why }), ...about, source: sourceText(place), ...waits };
}
