/** Writes the facts of a history to the topics of an audit. */
import { chainOf } from '../../../src/delivery/again/request.js';
import type { ReceivedRecord } from '../../../src/ports/broker.js';
import type { AccountEvent } from '../../../src/webhooks/events.js';
import { type Change, type Fact, type History, typeOf } from '../generators/payment-histories.js';
import { added } from '../generators/webhook-samples.js';
import { AuditFixture, delivery, TOPICS } from './audit-fixture.js';

type Kind<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>;

/** Stands for a payment whose record is lost or invalid. */
const NO_EVENT = { id: 'none', type: 'cash_in', accountId: 1 } as const;

const ASKED = [
  { trigger: 'resend', actor: 'ana' },
  { trigger: 'recover', actor: 'ana', recovery: 'r' },
  { trigger: 'replay', actor: 'ana' },
] as const;

function eventOf({ kind, webhookId, at }: Change): AccountEvent {
  const time = new Date(Date.UTC(2026, 10, 21 + at)).toISOString();
  const off = { webhookId, reason: '', deactivatedAt: time };
  switch (kind) {
    case 'added':
      return added(webhookId, { createdAt: time, eventType: typeOf(webhookId) });
    case 'removed':
      return { type: 'WebhookRemoved', data: { webhookId, removedAt: time } };
    case 'activated':
      return { type: 'WebhookActivated', data: { webhookId, activatedAt: time } };
    case 'paused':
      return { type: 'WebhookDeactivated', data: off };
    case 'off':
      return { type: 'WebhookDeactivated', data: { ...off, by: 'service' } };
    default:
      return kind satisfies never;
  }
}

/** Whether the fact shows that the retry is durable. */
function isShownBy({ p, webhookId, id }: Kind<'retry'>, fact: Fact): boolean {
  if ('webhookId' in fact) return fact.p === p && fact.webhookId === webhookId;
  return 'p' in fact ? fact.p === p : fact.id === id;
}

const PARTITIONS = TOPICS.payments.flatMap((topic) => [0, 1].map((partition) => ({ topic, partition })));

export class HistoryTopics {
  readonly topics = new AuditFixture();
  /** The record of each fact that has one. */
  readonly #written = new Map<Fact, ReceivedRecord>();
  /** The groups' committed offsets, by topic/partition. */
  readonly #committed = new Map<string, number>();
  readonly #records = new Map<number, ReceivedRecord>();
  /** By retry or request. */
  readonly #retries = new Map<number, ReceivedRecord>();
  /** By tier, the deliveries of a bundle that is not written yet. */
  readonly #gathered = new Map<string, Kind<'retry'>[]>();
  /** Of each bundle, the retries that are not done, and the index of each in it. */
  readonly #open = new Map<ReceivedRecord, Map<number, number>>();
  readonly #done = new Map<string, Set<number>>();
  readonly #history: History;

  constructor(history: History) {
    this.#history = history;
    for (const [accountId, changes] of history.accounts) this.topics.happened(accountId, ...changes.map(eventOf));
    for (const { topic, partition } of PARTITIONS) {
      this.topics.begun(topic, partition);
      this.#commitOffset(topic, partition, 0);
    }
  }

  write(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'retry') this.#gather(fact);
      else {
        this.#writeBundles((one) => isShownBy(one, fact));
        const record = this.#write(fact);
        if (record) this.#written.set(fact, record);
      }
    }
    this.#writeBundles();
  }

  /** With other deliveries that go to the tier before a fact shows that this one is durable. */
  #gather(fact: Kind<'retry'>): void {
    this.#writeBundles((one) => isShownBy(one, fact));
    this.#gathered.set(fact.tier, [...(this.#gathered.get(fact.tier) ?? []), fact]);
  }

  /** Those with such a delivery. */
  #writeBundles(isOf: (fact: Kind<'retry'>) => boolean = () => true): void {
    for (const [tier, facts] of this.#gathered) {
      if (!facts.some(isOf)) continue;
      this.#gathered.delete(tier);
      const [first, ...others] = facts.map((fact) => this.#delivery(fact));
      if (!first) continue;
      const record = this.topics.waitTogether([first, ...others], tier, Math.max(...facts.map(({ id }) => id)));
      this.#open.set(record, new Map(facts.map(({ id }, index) => [id, index])));
      for (const fact of facts) {
        this.#retries.set(fact.id, record);
        this.#written.set(fact, record);
      }
    }
  }

  #write(fact: Exclude<Fact, Kind<'retry'>>): ReceivedRecord | null {
    switch (fact.kind) {
      case 'payment':
        return this.#published(fact.p);
      case 'buried':
        return this.topics.notValid(this.recordOf(fact.p));
      case 'routed':
        return this.#routed(fact);
      case 'entry':
        return this.topics.logged(this.#delivery(fact), fact.outcome, fact.outcome === 'retrying' ? 0 : null, fact);
      case 'letter':
        return this.topics.exhausted(this.#delivery(fact));
      case 'request':
        return this.#requested(fact);
      case 'part-done':
        return this.#completePart(this.recordOf(fact.p), fact.webhookId);
      case 'done':
        return this.#commit(this.recordOf(fact.p));
      case 'retried':
        return this.#retried(fact.id);
      default:
        return fact satisfies never;
    }
  }

  #published(p: number): ReceivedRecord {
    const { event, at, partition, topic } = this.#history.payments[p] ?? { event: null, at: 0, partition: 0, topic: 0 };
    const record = this.topics.published(event ?? 'no event', { at, partition }, TOPICS.payments[topic]);
    this.#records.set(p, record);
    return record;
  }

  #routed({ p, ...by }: Kind<'routed'>): ReceivedRecord {
    return this.topics.routed(this.recordOf(p), this.#event(p).accountId, by);
  }

  /** A bundle is done once all of its deliveries are; until then they are done as its parts. */
  #retried(id: number): null {
    const record = this.#retries.get(id);
    const open = record && this.#open.get(record);
    const index = open?.get(id);
    open?.delete(id);
    if (!record || !open || open.size === 0) return this.#commit(record);
    return index === undefined ? null : this.#completePart(record, index);
  }

  /** Whether the retry record is a bundle of which another delivery is open. */
  isBundleOpen(id: number): boolean {
    const record = this.#retries.get(id);
    const open = record && this.#open.get(record);
    return [...(open?.keys() ?? [])].some((other) => other !== id);
  }

  #completePart({ topic, partition, offset }: ReceivedRecord, part: number): null {
    this.topics.completePart(topic, offset, part, partition);
    return null;
  }

  #requested(fact: Kind<'request'>): ReceivedRecord {
    const requested = delivery(this.#event(fact.p), fact.webhookId, this.recordOf(fact.p));
    const record = fact.cancels
      ? this.topics.cancelled([requested], { at: fact.id })
      : this.topics.requested(requested, { at: fact.id }, ASKED[fact.id % ASKED.length]);
    this.#retries.set(fact.id, record);
    return record;
  }

  #delivery(fact: Kind<'entry' | 'retry' | 'letter'>) {
    const { p, webhookId, attempts, request } = fact;
    const chain = request === null ? 0 : chainOf(this.#retries.get(request) ?? { offset: 0 });
    return { ...delivery(this.#event(p), webhookId, this.recordOf(p)), chain, attempts };
  }

  #event(p: number) {
    return this.#history.payments[p]?.event ?? NO_EVENT;
  }

  recordOf(p: number): ReceivedRecord {
    const record = this.#records.get(p);
    if (!record) throw new Error(`payment ${p} is not published yet`);
    return record;
  }

  /** The contiguous prefix of done records; those behind a gap are done ahead. */
  #commit(record: ReceivedRecord | undefined): null {
    if (!record) return null;
    const { topic, partition, offset } = record;
    const done = (this.#done.get(`${topic}/${partition}`) ?? new Set<number>()).add(offset);
    this.#done.set(`${topic}/${partition}`, done);
    let next = 0;
    while (done.has(next)) next += 1;
    this.#commitOffset(topic, partition, next);
    if (offset >= next) this.topics.completeAhead(topic, offset, partition);
    return null;
  }

  erase(facts: readonly Fact[]): void {
    for (const fact of facts) if (fact.kind === 'retry') this.#erase(fact);
    const gone = new Set(facts.flatMap((fact) => (fact.kind === 'retry' ? [] : (this.#written.get(fact) ?? []))));
    for (const { topic } of gone) this.topics.drop(topic, (record) => gone.has(record));
  }

  /** The other deliveries of its bundle stay. */
  #erase(fact: Kind<'retry'>): void {
    const record = this.#written.get(fact);
    const { id, payment } = this.#delivery(fact);
    const isLost = (one: { readonly id: string; readonly payment: string | null }) =>
      one.id === id && one.payment === payment;
    const without = record && this.topics.lose(record, isLost);
    for (const [other, of] of this.#written) if (without && of === record) this.#written.set(other, without);
  }

  /** Removes all payment records that are done. */
  expire(): void {
    for (const { topic, partition } of PARTITIONS) {
      this.topics.cut(topic, this.#committed.get(`${topic}/${partition}`), partition);
    }
  }

  #commitOffset(topic: string, partition: number, offset: number): void {
    this.#committed.set(`${topic}/${partition}`, offset);
    this.topics.commit(topic, offset, partition);
  }
}
