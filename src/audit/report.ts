/** The report of a period, for auditors: counts, open deliveries, missing records. Its scratch tables must still be there. */
import { webhookMessageId } from '../delivery/delivery.js';
import { eventOfKey } from '../delivery/payment/parsed-payment.js';
import { type RecordOffset, sourceText } from '../delivery/record-place.js';
import { LATEST_TIME_MS } from '../ports/broker.js';
import * as queries from './queries.js';
import type { Lost } from './read-topic.js';
import type { AuditTables } from './tables.js';

interface About {
  /** The webhook-id. */
  readonly id: string;
  readonly eventId: string;
  /** Of a CloudEvent only. */
  readonly eventSource?: string;
  readonly accountId: number;
  readonly webhookId: number;
  /** The place of the payment's record, topic/partition/offset. */
  readonly source: string;
}

export interface Open extends About {
  readonly kind: 'open';
  readonly tier: string;
  /** ISO 8601, UTC, ms. */
  readonly nextAttemptAt: string;
}

/** For a whole payment record, id and webhookId are null; for a record that is no payment event, everything but `source`. */
export interface Unanswered {
  readonly kind: 'unanswered';
  readonly why: string;
  readonly id: string | null;
  readonly eventId: string | null;
  readonly eventSource?: string;
  readonly accountId: number | null;
  readonly webhookId: number | null;
  readonly source: string;
}

/** A delivery to a webhook that was not active at any routing of its payment. */
export interface Unexpected extends About {
  readonly kind: 'unexpected';
}

/** Records of the period that an open transaction held back, from the first one's offset on. */
export interface HeldBack extends Pick<RecordOffset, 'topic' | 'partition' | 'offset'> {
  readonly kind: 'held';
  readonly records: number;
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

interface Place {
  readonly part: number;
  readonly offset: number;
}

interface Row extends Place {
  readonly webhook: number;
  readonly account: number;
  readonly event: string;
  readonly tier: string;
  readonly due: number;
  readonly why: string;
}

export class Report {
  readonly counts: Counts;
  /** Topics that do not, or may not, have all records of the period. */
  readonly lost: Lost[] = [];
  readonly #tables: AuditTables;

  /** @param tables of which all evidence was read */
  constructor(tables: AuditTables) {
    this.#tables = tables;
    this.counts = this.#counted();
  }

  get held(): readonly HeldBack[] {
    const held = this.#rows<Place & { records: number }>(queries.HELD);
    return [...held].map(({ part, offset, records }) => {
      return { kind: 'held', ...this.#tables.partition(part), offset, records };
    });
  }

  *open(): Iterable<Open> {
    for (const row of this.#rows<Row>(queries.RETRYING)) {
      // A foreign record may contain any number.
      const nextAttemptAt = new Date(Math.min(row.due, LATEST_TIME_MS)).toISOString();
      yield { kind: 'open', ...this.#about(row), tier: row.tier, nextAttemptAt };
    }
  }

  *unanswered(): Iterable<Unanswered> {
    for (const { account, event, why, ...place } of this.#rows<Row>(queries.UNPROVEN)) {
      const about = { id: null, webhookId: null, ...(event === null ? { eventId: null } : named(event)) };
      yield { kind: 'unanswered', why, ...about, accountId: account, source: this.#source(place) };
    }
    for (const row of this.#rows<Row>(queries.UNANSWERED))
      yield { kind: 'unanswered', why: row.why, ...this.#about(row) };
  }

  *unexpected(): Iterable<Unexpected> {
    for (const row of this.#rows<Row>(queries.UNEXPECTED)) yield { kind: 'unexpected', ...this.#about(row) };
  }

  #counted(): Counts {
    const { scratch } = this.#tables;
    const count = (query: string) =>
      scratch.row<{ count: number }>(`SELECT count(*) AS count FROM (${query})`)?.count ?? 0;
    scratch.run(queries.EVENTS);
    const ends = { delivered: 0, exhausted: 0, cancelled: 0, retrying: 0, waiting: 0, unanswered: 0 };
    const retrying: Record<string, number> = {};
    let deliveries = 0;
    for (const row of this.#rows<{ answer: keyof typeof ends; tier: string | null; count: number }>(queries.ANSWERS)) {
      deliveries += row.count;
      ends[row.answer] += row.count;
      if (row.tier !== null) retrying[row.tier] = row.count;
    }
    return {
      ...(scratch.row(queries.RECORDS) as Pick<Counts, 'records' | 'invalid' | 'unreadable'>),
      ...(scratch.row(queries.EVENT_COUNTS) as Pick<Counts, 'events' | 'notDue'>),
      ...{ deliveries, ...ends, retrying, unexpected: count(queries.UNEXPECTED) },
      waiting: scratch.row<{ count: number }>(queries.WAITING)?.count ?? 0,
      unanswered: ends.unanswered + count(queries.UNPROVEN),
    };
  }

  #rows<Of>(query: string): Iterable<Of> {
    return this.#tables.scratch.rows<Of>(query);
  }

  #about({ webhook, account, event, ...place }: Row): About {
    const { eventId, eventSource } = named(event);
    const id = webhookMessageId(account, { eventId, eventSource: eventSource ?? null }, webhook);
    return { id, ...named(event), accountId: account, webhookId: webhook, source: this.#source(place) };
  }

  #source({ part, offset }: Place): string {
    return sourceText({ ...this.#tables.partition(part), offset });
  }
}

function named(event: string): Pick<About, 'eventId' | 'eventSource'> {
  const { eventId, eventSource } = eventOfKey(event) ?? { eventId: event, eventSource: null };
  return { eventId, ...(eventSource !== null && { eventSource }) };
}
