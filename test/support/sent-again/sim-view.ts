/** A late view of both topics, in memory. */
import { viewEntries } from '../../../src/delivery/log/view-entry.js';
import type { Topics } from '../../../src/delivery/topics.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import type {
  AccountView,
  AskView,
  DeliveryDetail,
  DeliveryPlace,
  NextRecoverable,
  RecoverableQuery,
  ViewEnds,
  ViewEntry,
  ViewQueries,
  ViewTopic,
} from '../../../src/ports/deliveries-view.js';
import { type DeliveryFold, statusOf, withStatus } from '../../../src/ports/delivery-order.js';
import { accountView } from '../account-view.js';
import type { Process } from './kernel.js';
import type { SimTopics } from './sim-broker.js';

type Status = ViewEntry & { readonly at: number };
export type Said = (fold: DeliveryFold<Status>) => Status;

interface Row {
  readonly fold: DeliveryFold<Status>;
  readonly requests: ReadonlySet<number>;
  readonly recoveries: ReadonlySet<string>;
}

/** Rows by id and place. */
export class Rows {
  readonly all = new Map<string, Row>();

  constructor(readonly said: Said = statusOf) {}

  add(topic: ViewTopic, record: ReceivedRecord): void {
    for (const entry of entriesIn(topic, record)) this.#entry(topic, entry);
  }

  #entry(topic: ViewTopic, entry: ViewEntry): void {
    const key = `${entry.id} ${entry.payment}`;
    const known = this.all.get(key);
    const isRequest = topic === 'requests' && entry.outcome === 'retrying';
    this.all.set(key, {
      fold: withStatus(known?.fold, { ...entry, at: entry.place.timestamp }),
      requests: isRequest ? new Set([...(known?.requests ?? []), entry.chain]) : (known?.requests ?? new Set()),
      recoveries: entry.recovery
        ? new Set([...(known?.recoveries ?? []), entry.recovery])
        : (known?.recoveries ?? new Set()),
    });
  }

  outcome(key: string): string {
    const row = this.all.get(key);
    if (!row) return 'unknown';
    const { outcome, chain, attempts, held } = this.said(row.fold);
    return `${held ? 'held' : outcome} ${chain} ${attempts}`;
  }

  details(): DeliveryDetail[] {
    return [...this.all.values()].map((row) => this.#detail(row)).sort(oldestFirst);
  }

  #detail({ fold, requests }: Row): DeliveryDetail {
    const status = this.said(fold);
    const { outcome, held, nextAttemptAt, step, endedBy } = status;
    const shown = { attempts: [], responses: new Map(), routedAt: null, sentAgain: false };
    return { ...status, outcome, held, nextAttemptAt, step, endedBy, requests: requests.size, ...shown };
  }

  nextRecoverable(query: RecoverableQuery, recovery: string, after: DeliveryPlace | null): NextRecoverable {
    const rows = this.details().filter((detail) => !after || oldestFirst(placed(detail), placed(after)) > 0);
    const delivery = rows.find((detail) => this.#isOf(detail, query, recovery)) ?? null;
    const reached = delivery ?? rows.at(-1);
    return { delivery, reached: reached ? placed(reached) : null };
  }

  #isOf(detail: DeliveryDetail, { webhookIds, since, until, include }: RecoverableQuery, recovery: string): boolean {
    const { id, payment, webhookId, firstAt, outcome, held } = detail;
    if (this.all.get(`${id} ${payment}`)?.recoveries.has(recovery)) return false;
    if (!webhookIds.includes(webhookId) || firstAt < since || firstAt >= until) return false;
    return include.some((kind) => kind === (held ? 'held' : outcome));
  }
}

/** Read once for all views. */
const read = new WeakMap<ReceivedRecord, readonly ViewEntry[]>();

function entriesIn(topic: ViewTopic, record: ReceivedRecord): readonly ViewEntry[] {
  const known = read.get(record);
  if (known) return known;
  const found = viewEntries({ ...record, topic }).filter((entry) => entry.kind === 'delivery');
  read.set(record, found);
  return found;
}

function placed({ firstAt, id, payment }: Pick<DeliveryDetail, 'firstAt' | 'id' | 'payment'>) {
  return { firstAt, id, payment: payment ?? '' };
}

function oldestFirst(one: Parameters<typeof placed>[0], other: Parameters<typeof placed>[0]): number {
  const text = ({ id, payment }: typeof one) => `${id} ${payment}`;
  return one.firstAt - other.firstAt || (text(one) < text(other) ? -1 : Number(text(one) > text(other)));
}

/** It has read so far; it is late by spells, and begins anew where it was discarded. */
export class SimView implements AskView {
  readonly #topics: SimTopics;
  readonly #by: Process;
  readonly #names: Topics;
  readonly #said: Said;
  #reached = new Map<string, number>();
  #openedAt = new Map<string, number>();
  /** Partitions whose next read is under way. */
  readonly #reading = new Set<string>();
  readonly #slow = new Set<string>();
  #number = 0;
  rows: Rows;
  /** Every read is slow; or none is any more. */
  isSlow = false;
  isHealed = false;

  constructor(topics: SimTopics, by: Process, names: Topics, said: Said) {
    [this.#topics, this.#by, this.#names, this.#said] = [topics, by, names, said];
    this.rows = new Rows(said);
    this.discard();
  }

  discard(): void {
    this.rows = new Rows(this.#said);
    this.#number += 1;
    this.#reached = new Map();
    for (const topic of ['deliveries', 'requests'] as const) {
      const partitions = [...this.#topics.partitions(this.#names[topic]).entries()];
      for (const [partition, { length }] of partitions) {
        this.#openedAt.set(`${topic} ${partition}`, length);
        this.#follow(topic, partition);
      }
    }
  }

  #follow(topic: ViewTopic, partition: number): void {
    const { kernel } = this.#by;
    const key = `${topic} ${partition}`;
    if (this.#reading.has(key)) return;
    this.#reading.add(key);
    if (kernel.chance(0.05)) this.#slow[kernel.chance(0.3) ? 'add' : 'delete'](key);
    const isSlow = !this.isHealed && (this.isSlow || this.#slow.has(key));
    this.#by.after(isSlow ? kernel.between(1_000, 7_000) : kernel.between(30, 400), () => {
      this.#reading.delete(key);
      this.#read(topic, partition);
    });
  }

  #read(topic: ViewTopic, partition: number): void {
    const { kernel } = this.#by;
    const key = `${topic} ${partition}`;
    const records = this.#topics.partitions(this.#names[topic])[partition] ?? [];
    // Some are read twice, as after a process was killed before it stored how far it is.
    const from = Math.max(0, (this.#reached.get(key) ?? 0) - (kernel.chance(0.05) ? 2 : 0));
    const to = Math.min(records.length, from + kernel.between(3, 60));
    for (const record of records.slice(from, to)) this.rows.add(topic, record);
    this.#reached.set(key, Math.max(to, this.#reached.get(key) ?? 0));
    const goOn = this.#by.bound(() => this.#follow(topic, partition));
    if (to < records.length) goOn();
    else this.#topics.onAppend(this.#names[topic], goOn);
  }

  get isCaughtUp(): boolean {
    return [...this.#openedAt].every(([key, end]) => (this.#reached.get(key) ?? 0) >= end);
  }

  async ask<T>(_: number, question: (view: AccountView) => Promise<T>): Promise<T> {
    const nextRecoverable: ViewQueries['nextRecoverable'] = (...asked) => this.rows.nextRecoverable(...asked);
    return question(accountView({ nextRecoverable }, this.#id));
  }

  async idBehind(ends: ViewEnds): Promise<string | null> {
    const read = (topic: ViewTopic, partition: number) => this.#reached.get(`${topic} ${partition}`) ?? 0;
    const hasPassed = [...ends].every(([topic, all]) => [...all].every(([of, { next }]) => read(topic, of) >= next));
    return hasPassed ? this.#id : null;
  }

  get #id(): string {
    return `${this.#by.name} ${this.#number}`;
  }
}
