/** Writes what the topics report into the audit's tables. */

import type { RoutedEntry } from '../delivery/log/log-record.js';
import { partitionText, type RecordOffset } from '../delivery/record-place.js';
import { type DeliveryFold, type DeliveryStatus, statusOf, withStatus } from '../ports/delivery-order.js';
import type { Scratch } from '../ports/scratch.js';
import type { ActiveSpans } from './active-webhooks.js';
import { SCHEMA } from './queries.js';

type Where = Pick<RecordOffset, 'topic' | 'partition'>;
type Place = Where & Pick<RecordOffset, 'offset'>;

/** Of a payment record; all null but `kind` for one that is no payment event, and `kind` too for one not of the period. */
export interface RecordRow {
  readonly kind: 'payment' | 'invalid' | 'held' | null;
  /** Whether its consumer was not done with it when the audit began. */
  readonly open: boolean;
  readonly account: number | null;
  readonly type: string | null;
  /** keyOfEvent */
  readonly event: string | null;
}

/** How far a delivery was when a record of it was written. */
export type Progress = Pick<DeliveryStatus, 'chain' | 'attempts'>;

/** A delivery in the topics: to a webhook, of an account's payment record. */
export interface About {
  readonly place: RecordOffset;
  readonly accountId: number;
  readonly webhookId: number;
}

const OF_RECORD = 'part = ? AND offset = ?';
const IS_AUDITED = 'EXISTS (SELECT 1 FROM records WHERE part = ? AND offset = ? AND at = ? AND account = ?)';
const DELIVERY = `SELECT r.event, d.outcome, d.fold FROM records r LEFT JOIN deliveries d
  ON (d.part, d.offset, d.webhook) = (r.part, r.offset, ?) WHERE r.part = ? AND r.offset = ? AND r.at = ? AND r.account = ?`;
const SAY = `INSERT INTO deliveries (part, offset, webhook, outcome, chain, attempts, fold, asked) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET outcome = excluded.outcome, chain = excluded.chain, attempts = excluded.attempts,
  fold = excluded.fold, asked = max(asked, excluded.asked)`;

export class AuditTables {
  readonly scratch: Scratch;
  readonly #numbers = new Map<string, number>();
  readonly #parts: Where[] = [];
  #entries = 0;

  constructor(scratch: Scratch) {
    this.scratch = scratch;
    scratch.define(SCHEMA);
  }

  part({ topic, partition }: Where): number {
    const name = partitionText({ topic, partition });
    const known = this.#numbers.get(name) ?? this.#parts.push({ topic, partition }) - 1;
    this.#numbers.set(name, known);
    return known;
  }

  partition(part: number): Where {
    return this.#parts[part] ?? { topic: '', partition: part };
  }

  /** A record that was read before stays as it is. */
  record(place: RecordOffset, { kind, open, account, type, event }: RecordRow): void {
    this.scratch.run(
      'INSERT INTO records (part, offset, at, kind, open, account, type, event) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      ...[this.part(place), place.offset, place.at, kind, Number(open), account, type, event],
    );
  }

  batch(first: Place, digest: string | null, open: boolean): void {
    const values = [this.part(first), first.offset, String(digest), Number(open)];
    this.scratch.run(
      'INSERT INTO batches (part, offset, digest, open) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      ...values,
    );
  }

  /** Undefined: the topic did not have it when it was read. account: null if it is not of the audit. */
  found(place: Place): { readonly at: number; readonly account: number | null } | undefined {
    return this.scratch.row(`SELECT at, account FROM records WHERE ${OF_RECORD}`, this.part(place), place.offset);
  }

  /** @param own whether the entry's revisions are those of the audited store */
  routed(place: Place, own: boolean, { accountId, routed, confirmed, webhooks }: RoutedEntry): void {
    this.#entries += 1;
    if (own) this.scratch.run('INSERT INTO accounts (account) VALUES (?) ON CONFLICT DO NOTHING', accountId);
    const values = [Number(own), routed, confirmed, JSON.stringify([...new Set(webhooks)])];
    this.scratch.run(
      'INSERT INTO routed VALUES (?, ?, ?, ?, ?, ?, ?)',
      ...[this.part(place), place.offset, this.#entries, ...values],
    );
  }

  /** An entry or a request. Most are of a first attempt that delivered: nothing outranks that, so it needs no fold. */
  says({ place, accountId, webhookId }: About, event: string, status: DeliveryStatus): void {
    const [part, { offset, at }] = [this.part(place), place];
    const known = this.scratch.row<{ event: string; outcome: string | null; fold: string | null }>(
      ...[DELIVERY, webhookId, part, offset, at, accountId],
    );
    const asked = Number(status.chain > 0 && status.outcome !== 'cancelled');
    if (known?.event !== event || (known.outcome === 'delivered' && !asked)) return;
    const before = known.fold === null ? undefined : (JSON.parse(known.fold) as DeliveryFold);
    const isDelivered = known.outcome === 'delivered' || status.outcome === 'delivered';
    const fold = isDelivered ? null : withStatus(before, status);
    const { outcome, chain, attempts } = fold ? statusOf(fold) : { ...status, outcome: 'delivered' };
    this.scratch.run(SAY, part, offset, webhookId, outcome, chain, attempts, fold && JSON.stringify(fold), asked);
  }

  /** A retry record or a request that its consumer is not done with; the furthest counts. @param tier `requests`: sent again */
  waits({ place, accountId, webhookId }: About, { chain, attempts }: Progress, tier: string, due: number): void {
    const [part, { offset, at }] = [this.part(place), place];
    this.scratch.run(
      `UPDATE deliveries SET tier = ?, due = ?, tier_chain = ?, tier_attempts = ? WHERE ${OF_RECORD} AND webhook = ?
       AND coalesce((?, ?, ?) >= (tier_chain, tier_attempts, due), 1) AND ${IS_AUDITED}`,
      ...[tier, due, chain, attempts, part, offset, webhookId, chain, attempts, due, part, offset, at, accountId],
    );
  }

  /** A dead letter ends it; the furthest counts. */
  ended({ place, accountId, webhookId }: About, { chain, attempts }: Progress): void {
    const [part, { offset, at }] = [this.part(place), place];
    this.scratch.run(
      `UPDATE deliveries SET letter_chain = ?, letter_attempts = ? WHERE ${OF_RECORD} AND webhook = ?
       AND coalesce((?, ?) > (letter_chain, letter_attempts), 1) AND ${IS_AUDITED}`,
      ...[chain, attempts, part, offset, webhookId, chain, attempts, part, offset, at, accountId],
    );
  }

  /** Dead letters of the records up to `last`: also of payment events, if another release considered them invalid. */
  buried(first: Place, last = first.offset): void {
    const values = [this.part(first), first.offset, last];
    this.scratch.run('UPDATE records SET buried = 1 WHERE part = ? AND offset BETWEEN ? AND ?', ...values);
  }

  /** A dead letter of the batch, whether it is still unreadable or was read as records now. */
  batchBuried(first: Place, digest: string | null): void {
    const values = [this.part(first), first.offset, String(digest)];
    this.scratch.run(`UPDATE batches SET buried = 1 WHERE ${OF_RECORD} AND digest = ?`, ...values);
  }

  history(account: number, { spans, revision }: ActiveSpans): void {
    this.scratch.run('UPDATE accounts SET revision = ? WHERE account = ?', revision, account);
    for (const { eventType, webhookId, from, until } of spans)
      this.scratch.run('INSERT INTO spans VALUES (?, ?, ?, ?, ?)', account, eventType, webhookId, from, until);
  }
}
