/**
 * A service's handling of payments, as facts in the order in which they become durable: random, small and correct. An
 * independent model of the guarantees of src/delivery. The user adds faults.
 */
import fc from 'fast-check';
import type { PaymentEvent } from '../../src/delivery/payment/payment-event.js';
import type { PartitionStart } from '../../src/ports/broker.js';
import type { EndBefore, Outcome } from '../../src/ports/delivery-order.js';
import type { AccountEvent } from '../../src/webhooks/events.js';
import { type AccountWebhooks, NO_ACCOUNT } from '../../src/webhooks/state.js';
import { foldWebhooks } from './fold-webhooks.js';
import { added } from './webhook-samples.js';

interface Published {
  /** Null: the record is no payment event. */
  readonly event: PaymentEvent | null;
  readonly at: number;
  readonly partition: number;
  readonly topic: number;
}

/**
 * `p` is the payment's number, `id` the retry record's. `isFormer`: about the record at the same place in a former
 * topic.
 */
export type Fact = { readonly isFormer?: boolean } & OneFact;

type OneFact =
  | ({ readonly kind: 'start' } & PartitionStart)
  | { readonly kind: 'payment'; readonly p: number }
  | { readonly kind: 'buried'; readonly p: number }
  | { readonly kind: 'done'; readonly p: number }
  | ({ readonly kind: 'routed'; readonly p: number; readonly store: string } & Routed)
  | ({ readonly kind: 'entry'; readonly p: number; readonly placed: boolean } & Entry)
  | ({ readonly kind: 'retry'; readonly p: number; readonly id: number; readonly tier: string } & Step)
  | ({ readonly kind: 'letter'; readonly p: number } & Step)
  | { readonly kind: 'retried'; readonly id: number };

interface Routed {
  readonly routed: number;
  readonly confirmed: number;
  readonly webhooks: readonly number[];
}

interface Step {
  readonly webhookId: number;
  readonly turn: number;
}

export interface Entry extends Step {
  readonly outcome: Outcome;
  readonly at: number;
  readonly before?: EndBefore;
}

export interface History {
  readonly accounts: ReadonlyMap<number, readonly AccountEvent[]>;
  readonly payments: readonly Published[];
  readonly facts: readonly Fact[];
}

const TYPES = ['cash_in', 'cash_out'] as const;
export const TIERS = ['5s', '30m'] as const;
/** The last one belongs to no account. */
export const WEBHOOKS = [1, 2, 3, 4] as const;
const MINUTE = 60_000;

interface HandOut {
  readonly routed: number;
  readonly confirmed: number;
  /** How many of its facts become durable; the last hand-out is never abandoned. */
  readonly givenUpAfter: number;
  /** The place of its entry among them. */
  readonly entryAt: number;
  /** For a process that lost the partition: its entry comes after all others. */
  readonly isLate: boolean;
  readonly steps: readonly number[];
}

const many = <T>(one: fc.Arbitrary<T>, maxLength: number, minLength = 0) =>
  fc.array(one, { minLength, maxLength, size: 'max' });
const handOut: fc.Arbitrary<HandOut> = fc.record({
  ...{ routed: fc.nat(6), confirmed: fc.nat(6), givenUpAfter: fc.nat(4), entryAt: fc.nat(3) },
  isLate: fc.boolean(),
  steps: many(fc.nat(12), 5, 1),
});
const script = fc.record({
  event: fc.option(
    fc.record({
      id: fc.constantFrom('a', 'b'),
      type: fc.constantFrom(...TYPES),
      accountId: fc.integer({ min: 1, max: 2 }),
    }),
    { freq: 9 },
  ),
  // Clocks jump, and differ; some producers stamp in nanoseconds, or not at all.
  at: fc.oneof(
    { arbitrary: fc.nat(12).map((n) => n * MINUTE), weight: 8 },
    { arbitrary: fc.constantFrom(-1, Number(1_763_900_000_123_456_789n)), weight: 1 },
  ),
  ...{ partition: fc.nat(1), topic: fc.nat(1), handOuts: many(handOut, 3, 1) },
});
const change = fc.record({ kind: fc.nat(6), webhookId: fc.constantFrom(1, 2, 3), at: fc.nat(4) });

export const history: fc.Arbitrary<History> = fc
  .record({
    changes: fc.tuple(many(change, 7, 2), many(change, 4, 1)),
    scripts: many(script, 4, 1),
    order: many(fc.nat(3), 60, 60),
  })
  .map(({ changes, scripts, order }) => {
    const accounts = new Map(changes.map((own, index) => [index + 1, withoutTwins(own.map(changeOf))]));
    const service = new Service(accounts);
    const lists = scripts.map(({ handOuts, ...payment }, p) => service.facts(payment, p, handOuts));
    return { accounts, payments: scripts.map(({ handOuts: _, ...payment }) => payment), facts: merged(lists, order) };
  });

/** Times differ by days: time does not order revisions. */
function changeOf({ kind, webhookId, at }: { kind: number; webhookId: number; at: number }): AccountEvent {
  const time = new Date(Date.parse('2026-11-21') + at * 1_440 * MINUTE).toISOString();
  if (kind === 0) return { type: 'WebhookRemoved', data: { webhookId, removedAt: time } };
  if (kind === 1) return { type: 'WebhookDeactivated', data: { webhookId, reason: '', deactivatedAt: time } };
  if (kind === 3)
    return { type: 'WebhookDeactivated', data: { webhookId, reason: '', by: 'service', deactivatedAt: time } };
  if (kind === 2) return { type: 'WebhookActivated', data: { webhookId, activatedAt: time } };
  return added(webhookId, { createdAt: time, eventType: webhookId === 3 ? 'cash_out' : 'cash_in' });
}

/** A webhook is added once, or again after its removal. */
function withoutTwins(changes: readonly AccountEvent[]): readonly AccountEvent[] {
  return changes.filter((event, index) => {
    const before = statesOf(changes.slice(0, index)).at(-1);
    return event.type !== 'WebhookAdded' || !before?.webhooks.some(({ id }) => id === event.data.webhookId);
  });
}

/** Before the first event, and after each. */
function statesOf(events: readonly AccountEvent[]): AccountWebhooks[] {
  const all = [NO_ACCOUNT];
  for (const [index, event] of events.entries())
    all.push(foldWebhooks(all.at(-1) ?? NO_ACCOUNT, { ...event, id: `${index}` }));
  return all;
}

/** Whether the event was routed to the webhook at that revision. */
export function isRoute(
  events: readonly AccountEvent[],
  { type }: PaymentEvent,
  id: number,
  revision: number,
): boolean {
  const state = statesOf(events)[revision + 1];
  return (
    state?.webhooks.some(
      ({ id: own, isActive, offBy, eventType }) =>
        own === id && eventType === type && (isActive || offBy === 'service'),
    ) ?? false
  );
}

class Service {
  readonly #accounts: History['accounts'];
  #retries = 0;

  constructor(accounts: History['accounts']) {
    this.#accounts = accounts;
  }

  /** The facts of one payment: published, handed out until it is done, and the results of its retry records. */
  facts({ event, at }: Pick<Published, 'event' | 'at'>, p: number, handOuts: readonly HandOut[]): readonly Fact[] {
    const published: Fact[] = [{ kind: 'payment', p }];
    if (!event) return [...published, { kind: 'buried', p }, { kind: 'done', p }];
    const routings = this.#routings(event, handOuts);
    const last = routings.at(-1);
    const tails: Fact[] = [];
    const late: Fact[] = [];
    const done = routings.flatMap(({ isLate, ...routing }, index) => {
      const { steps, entryAt, givenUpAfter } = handOuts[index] ?? { steps: [], entryAt: 0, givenUpAfter: 0 };
      const isLast = index === routings.length - 1;
      // The last hand-out must have these webhooks too: nothing else covers them.
      const demanded = routing.webhooks.filter((id) => this.#isThroughout(event, id, routing));
      const isWritten = demanded.every((id) => last?.webhooks.includes(id));
      const entry: Fact[] = isWritten ? [{ kind: 'routed', p, store: 'own', ...routing }] : [];
      // A late hand-out has lost the partition, and had confirmed nothing before.
      const sent = routing.webhooks.filter((id) => !isLate || this.#isRoute(event, id, routing.routed));
      const mayReplay = handOuts.length === 1;
      const parts = sent.map((id) => new Delivery(p, id, at, () => this.#retries++).parts(steps, mayReplay));
      const heads: (readonly Fact[])[] = parts.map(({ head }) => head);
      if (isLate) late.push(...entry);
      else heads.splice(entryAt, 0, entry);
      const durable = isLast ? heads.flat() : heads.flat().slice(0, givenUpAfter);
      for (const { head, tail } of parts)
        if (head.some((fact) => fact.kind === 'retry' && durable.includes(fact))) tails.push(...tail);
      return durable;
    });
    return [...published, ...done, { kind: 'done', p }, ...late, ...tails];
  }

  /** A later confirmation never has an earlier revision; a late one may have a later revision than the last. */
  #routings(event: PaymentEvent, handOuts: readonly HandOut[]): readonly (Routed & { readonly isLate: boolean })[] {
    const head = (this.#accounts.get(event.accountId) ?? []).length - 1;
    let least = -1;
    return handOuts.map((one, index) => {
      const isLate = one.isLate && index < handOuts.length - 1;
      const routed = Math.min(one.routed - 1, head);
      const confirmed = Math.max(routed, least, Math.min(one.confirmed - 1, head));
      least = Math.max(least, isLate ? routed : confirmed);
      const webhooks = WEBHOOKS.filter((id) =>
        [routed, confirmed].some((revision) => this.#isRoute(event, id, revision)),
      );
      return { routed, confirmed, webhooks, isLate };
    });
  }

  #isThroughout(event: PaymentEvent, id: number, { routed, confirmed }: Routed): boolean {
    return this.#isRoute(event, id, routed) && this.#isRoute(event, id, confirmed);
  }

  #isRoute(event: PaymentEvent, id: number, revision: number): boolean {
    return isRoute(this.#accounts.get(event.accountId) ?? [], event, id, revision);
  }
}

/** A delivery to one webhook, in one hand-out. */
class Delivery {
  readonly #about: { readonly p: number; readonly webhookId: number };
  readonly #at: number;
  readonly #newRetry: () => number;
  #turn = 0;
  /** The current retry record. */
  #retry: number | null = null;
  #isParked = false;
  #isExhausted = false;
  /** Its last end, and the end before the resend that waits. */
  #end: EndBefore | null = null;
  #before: EndBefore | null = null;

  constructor(p: number, webhookId: number, at: number, newRetry: () => number) {
    this.#about = { p, webhookId };
    this.#at = at;
    this.#newRetry = newRetry;
  }

  /** head: the steps that the payment's record waits for. tail: the steps of the retry record. */
  parts(
    steps: readonly number[],
    mayReplay: boolean,
  ): { readonly head: readonly Fact[]; readonly tail: readonly Fact[] } {
    const [first = 0, ...rest] = steps;
    const head = [...this.#step(first)];
    const tail: Fact[] = [];
    for (const step of rest) {
      const done: Fact[] = this.#retry === null ? [] : [{ kind: 'retried', id: this.#retry }];
      if (this.#isSuperseded(step)) tail.push(...this.#superseded(step, done));
      else if (this.#retry !== null) tail.push(...this.#step(step), ...done);
      else if (mayReplay && step >= 10) tail.push(...this.#again());
      else if (mayReplay && this.#isExhausted && step > 5) tail.push(...this.#waits(1));
    }
    return { head, tail };
  }

  /** A resend that is cancelled is rare enough by itself. */
  #isSuperseded(step: number): boolean {
    return this.#retry !== null && step >= (this.#before ? 6 : 10);
  }

  #step(step: number): readonly Fact[] {
    if (step <= 2) return this.#ended(1, 'delivered');
    if (step === 3) return this.#ended(0, 'cancelled');
    if (step === 4) return this.#exhausted(1);
    if (step === 5) return this.#exhausted(0);
    return step <= 7 ? this.#waits(1) : this.#waits(0);
  }

  /**
   * The account cancels a waiting delivery, or sends it again, alone or within a recovery; an attempt may be under way. `done`:
   * a dispatcher drops the waiting record.
   */
  #superseded(step: number, done: readonly Fact[]): readonly Fact[] {
    if (step <= 10) return [...this.#cancelled(), ...done];
    const before = this.#before;
    const underWay = step === 12 ? [...this.#waits(1), ...done] : [];
    const late: Fact[] = this.#retry === null || step === 11 ? [...done] : [{ kind: 'retried', id: this.#retry }];
    if (step === 12) this.#turn -= 1;
    const [record, ...entry] = this.#waits(2);
    this.#before = before;
    const again: Fact[] = record ? [record] : [];
    return [...again, ...underWay, ...late, ...entry];
  }

  /** An attempt after its end. */
  #again(): readonly Fact[] {
    const before = this.#end;
    const facts = this.#waits(2);
    this.#before = before;
    return facts;
  }

  /** An end that holds again has no second dead letter. */
  #cancelled(): readonly Fact[] {
    const before = this.#before;
    if (before?.outcome !== 'exhausted') return this.#ended(1, 'cancelled');
    const [entry] = this.#ended(1, 'exhausted');
    [this.#end, this.#isExhausted] = [before, true];
    return entry ? [{ ...entry, before } as Fact] : [];
  }

  #ended(turns: number, outcome: EndBefore['outcome']): readonly Fact[] {
    this.#turn += turns;
    this.#retry = null;
    [this.#end, this.#before] = [{ outcome, turn: this.#turn }, null];
    return [this.#entry(outcome)];
  }

  #exhausted(turns: number): readonly Fact[] {
    const [entry] = this.#ended(turns, 'exhausted');
    this.#isExhausted = true;
    return [{ kind: 'letter', ...this.#about, turn: this.#turn }, ...(entry ? [entry] : [])];
  }

  /** Parked again, nothing is logged. */
  #waits(turns: number): readonly Fact[] {
    this.#turn += turns;
    const isTold = turns > 0 || !this.#isParked;
    this.#isParked = turns === 0;
    this.#retry = this.#newRetry();
    [this.#isExhausted, this.#before] = [false, null];
    const tier = TIERS[this.#turn % 2] ?? TIERS[0];
    const retry: Fact = { kind: 'retry', ...this.#about, id: this.#retry, tier, turn: this.#turn };
    return isTold ? [retry, this.#entry('retrying')] : [retry];
  }

  #entry(outcome: Outcome): Fact {
    return { kind: 'entry', ...this.#about, placed: true, outcome, turn: this.#turn, at: this.#at };
  }
}

/** Each list keeps its order; the interleaving is random. */
function merged(lists: readonly (readonly Fact[])[], order: readonly number[]): readonly Fact[] {
  const left = lists.map((list) => [...list]);
  const all = order.flatMap((drawn) => left[drawn % left.length]?.splice(0, 1) ?? []);
  return [...all, ...left.flat()];
}
