/** What became of deliveries, from their entries and requests: for commands, which read the topics to their ends. */
import type { ReceivedRecord } from '../../ports/broker.js';
import { type DeliveryFold, type DeliveryStatus, statusOf, withStatus } from '../../ports/delivery-order.js';
import type { DeliveryLogEntry, LoggedAttempt } from '../../ports/log-entry.js';
import type { Scratch } from '../../ports/scratch.js';
import { type RecordsBroker, topicRecords } from '../../ports/topic-records.js';
import { entriesOfRequest } from '../again/request.js';
import { firstAtOf } from '../record-place.js';
import type { Topics } from '../topics.js';
import { readLogRecord } from './log-record.js';

export interface DeliveryView extends Omit<DeliveryLogEntry, 'attempt' | 'attempts' | 'chain'> {
  readonly attempts: readonly LoggedAttempt[];
}

/** The topics that say what became of deliveries. */
export interface DeliveryTopics {
  readonly log: AsyncIterable<ReceivedRecord>;
  readonly requests: AsyncIterable<ReceivedRecord>;
}

/** To their ends. */
export function deliveryTopics(
  broker: RecordsBroker,
  { deliveries, requests }: Pick<Topics, 'deliveries' | 'requests'>,
): DeliveryTopics {
  return { log: topicRecords(broker, deliveries), requests: topicRecords(broker, requests) };
}

/** An entry, and when it was published, ms since the epoch. */
type Published = DeliveryLogEntry & { readonly at: number };

/** Each publication of an event has a delivery of its own, under one id. */
interface Named {
  readonly id: string;
  readonly payment?: string | null | undefined;
}

const SCHEMA = `CREATE TABLE entries (first INTEGER, id TEXT, payment TEXT, n INTEGER, entry TEXT,
  PRIMARY KEY (first, id, payment, n)) WITHOUT ROWID`;
const ADD = 'INSERT INTO entries VALUES ($first, $id, $payment, $n, $entry)';
const OF_DELIVERY = 'SELECT entry FROM entries WHERE first = $first AND id = $id AND payment = $payment';
const ALL = 'SELECT id, payment, entry FROM entries ORDER BY first DESC, id DESC, payment DESC, n DESC';

/** Entries in scratch tables, by delivery, in the order of pages (ports/deliveries-view.ts). */
export class LoggedEntries<Kept extends DeliveryStatus> {
  readonly #scratch: Scratch;
  #count = 0;

  constructor(scratch: Scratch) {
    this.#scratch = scratch;
    scratch.define(SCHEMA);
  }

  /** @param kept what to keep of an entry; null: nothing */
  async read({ log, requests }: DeliveryTopics, kept: (entry: Published) => Kept | null): Promise<void> {
    const keep = (entries: readonly DeliveryLogEntry[], at: number) => {
      for (const entry of entries) {
        const one = kept({ ...entry, at });
        if (one) this.add(entry, one);
      }
    };
    for await (const record of requests) keep(entriesOfRequest(record), record.timestamp);
    for await (const record of log) keep(readLogRecord(record).deliveries, record.timestamp);
  }

  add(of: Named, entry: Kept): void {
    this.#count += 1;
    this.#scratch.run(ADD, { ...keyOf(of), n: -this.#count, entry: JSON.stringify(entry) });
  }

  fold(of: Named): DeliveryFold<Kept> | undefined {
    const rows = [...this.#scratch.rows<{ entry: string }>(OF_DELIVERY, keyOf(of))];
    return folded(rows.map(({ entry }) => JSON.parse(entry)));
  }

  /** The entries of each delivery. */
  *deliveries(): Iterable<readonly Kept[]> {
    let [last, entries]: [string, Kept[]] = ['', []];
    for (const { id, payment, entry } of this.#scratch.rows<{ id: string; payment: string; entry: string }>(ALL)) {
      const key = `${id} ${payment}`;
      if (key !== last && entries.length > 0) yield entries.splice(0);
      last = key;
      entries.push(JSON.parse(entry));
    }
    if (entries.length > 0) yield entries;
  }
}

export function folded<Kept extends DeliveryStatus>(entries: readonly Kept[]): DeliveryFold<Kept> | undefined {
  return entries.reduce<DeliveryFold<Kept> | undefined>(withStatus, undefined);
}

/** An account's deliveries. The scratch tables must stay while they are read. */
export async function deliveriesOf(
  accountId: number,
  topics: DeliveryTopics,
  scratch: Scratch,
): Promise<Iterable<DeliveryView>> {
  const entries = new LoggedEntries<Published>(scratch);
  await entries.read(topics, (entry) => (entry.accountId === accountId ? entry : null));
  return views(entries);
}

function* views(entries: LoggedEntries<Published>): Iterable<DeliveryView> {
  for (const of of entries.deliveries()) {
    const fold = folded(of);
    if (!fold) continue;
    const { attempt: _, attempts: __, chain: ___, at: ____, ...now } = statusOf(fold);
    // By its content: a duplicate in the topic counts once.
    const attempts = new Map(of.flatMap(({ attempt }) => (attempt ? [[JSON.stringify(attempt), attempt]] : [])));
    const inOrder = [...attempts.values()].sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
    yield { ...now, attempts: inOrder };
  }
}

function keyOf({ id, payment }: Named) {
  return { first: firstAtOf(payment ?? undefined), id, payment: payment ?? '' };
}

/** @param at when the entry was published, ms since the epoch */
export function statusIn({ outcome, chain, attempts, nextAttemptAt }: DeliveryLogEntry, at: number): DeliveryStatus {
  return { outcome, chain, attempts, at, nextAttemptAt };
}
