/**
 * A service's handling of payments, as facts in the order in which they become durable: random, small and correct. A model of
 * the guarantees of src/delivery, of which it imports nothing.
 */
import fc from 'fast-check';

interface Payment {
  readonly id: string;
  readonly type: (typeof TYPES)[number];
  readonly accountId: number;
}

interface Published {
  /** Null: the record is no payment event. */
  readonly event: Payment | null;
  readonly at: number;
  readonly partition: number;
  readonly topic: number;
}

/** `p` is the payment's number, `id` that of a retry record or a request. */
export type Fact =
  | { readonly kind: 'payment'; readonly p: number }
  | { readonly kind: 'buried'; readonly p: number }
  /** Its consumer is done with this delivery, perhaps not with the whole record. */
  | { readonly kind: 'part-done'; readonly p: number; readonly webhookId: number }
  | { readonly kind: 'done'; readonly p: number }
  | ({ readonly kind: 'routed'; readonly p: number } & Routed)
  | ({ readonly kind: 'entry'; readonly p: number } & Entry)
  | ({ readonly kind: 'retry'; readonly p: number; readonly id: number; readonly tier: string } & Step)
  | ({ readonly kind: 'letter'; readonly p: number } & Step)
  | {
      readonly kind: 'request';
      readonly p: number;
      readonly id: number;
      readonly webhookId: number;
      readonly cancels: boolean;
    }
  /** Its consumer is done with the retry record or the request. */
  | { readonly kind: 'retried'; readonly id: number };

interface Routed {
  readonly routed: number;
  readonly confirmed: number;
  readonly webhooks: readonly number[];
}

interface Step {
  readonly webhookId: number;
  /** The id of the request that began its chain; null: the payment did. */
  readonly request: number | null;
  /** That the chain has made. */
  readonly attempts: number;
}

type Outcome = 'delivered' | 'retrying' | 'exhausted' | 'cancelled';

interface Entry extends Step {
  readonly outcome: Outcome;
  readonly at: number;
}

/** Of a webhook. off: by the service, which holds its payments. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'paused' | 'off' | 'activated';
  readonly webhookId: number;
  /** Days after the first possible one: time does not order revisions. */
  readonly at: number;
}

export interface History {
  /** Each change is a revision. */
  readonly accounts: ReadonlyMap<number, readonly Change[]>;
  readonly payments: readonly Published[];
  readonly facts: readonly Fact[];
}

const TYPES = ['cash_in', 'cash_out'] as const;
const TIERS = ['5s', '30m'] as const;
/** The last one belongs to no account. */
const WEBHOOKS = [1, 2, 3, 4] as const;
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
  /** Its deliveries' facts come by turns, not one delivery after the other. */
  readonly isConcurrent: boolean;
  readonly steps: readonly number[];
}

const NO_HAND_OUT = { steps: [], entryAt: 0, givenUpAfter: 0, isConcurrent: false };

const many = <T>(one: fc.Arbitrary<T>, maxLength: number, minLength = 0) =>
  fc.array(one, { minLength, maxLength, size: 'max' });
const handOut: fc.Arbitrary<HandOut> = fc.record({
  ...{ routed: fc.nat(6), confirmed: fc.nat(6), givenUpAfter: fc.nat(4), entryAt: fc.nat(3) },
  ...{ isLate: fc.boolean(), isConcurrent: fc.boolean() },
  steps: many(fc.nat(15), 5, 1),
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
const change = fc.record({
  kind: fc.constantFrom('removed', 'paused', 'activated', 'off', 'added', 'added', 'added'),
  webhookId: fc.constantFrom(1, 2, 3),
  at: fc.nat(4),
} as const);

interface Scenario {
  /** Of each account. */
  readonly changes: readonly (readonly Change[])[];
  readonly scripts: readonly (Published & { readonly handOuts: readonly HandOut[] })[];
}

const changes = fc.tuple(many(change, 7, 2), many(change, 4, 1));
const scripts = many(script, 4, 1);

const ADDED = [1, 2].map((webhookId) => ({ kind: 'added', webhookId, at: 0 }) as const);
/** Payments to two webhooks that wait concurrently in the same tier, so most of their retry records are bundles. */
const waitingTogether: fc.Arbitrary<Scenario> = fc.record({
  changes: changes.map(([own, other]) => [[...ADDED, ...own], other] as const),
  scripts: scripts.map((all) =>
    all.map(({ handOuts, ...payment }) => ({
      ...payment,
      event: { id: 'a', type: TYPES[0], accountId: 1 },
      handOuts: handOuts.slice(-1).map(({ steps: [first = 0, ...rest], ...one }) => {
        return { ...one, routed: ADDED.length, isConcurrent: true, steps: [6 + (first % 4), ...rest] };
      }),
    })),
  ),
});

const scenario: fc.Arbitrary<Scenario> = fc.oneof(
  { arbitrary: fc.record({ changes, scripts }), weight: 4 },
  { arbitrary: waitingTogether, weight: 1 },
);

export const history: fc.Arbitrary<History> = fc
  .record({ scenario, order: many(fc.nat(3), 60, 60) })
  .map(({ scenario: { changes, scripts }, order }) => {
    const accounts = new Map(changes.map((own, index) => [index + 1, withoutTwins(own)]));
    const service = new Service(accounts);
    const lists = scripts.map(({ handOuts, ...payment }, p) => service.facts(payment, p, handOuts));
    const payments = scripts.map(({ handOuts: _, ...payment }) => payment);
    return { accounts, payments, facts: merged(lists, order) };
  });

/** A webhook is added once, or again after its removal. */
function withoutTwins(changes: readonly Change[]): readonly Change[] {
  return changes.filter(
    ({ kind, webhookId }, index) => kind !== 'added' || !webhooksAfter(changes.slice(0, index)).has(webhookId),
  );
}

/** The webhooks that there are, and whether payments are routed to each. */
function webhooksAfter(changes: readonly Change[]): ReadonlyMap<number, boolean> {
  const webhooks = new Map<number, boolean>();
  for (const { kind, webhookId } of changes) {
    if (kind === 'removed') webhooks.delete(webhookId);
    else if (kind === 'added' || webhooks.has(webhookId)) webhooks.set(webhookId, kind !== 'paused');
  }
  return webhooks;
}

export function typeOf(webhookId: number): Payment['type'] {
  return webhookId === 3 ? 'cash_out' : 'cash_in';
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
      const { steps, entryAt, givenUpAfter, isConcurrent } = handOuts[index] ?? NO_HAND_OUT;
      const isLast = index === routings.length - 1;
      // The last hand-out must have these webhooks too: nothing else covers them.
      const demanded = routing.webhooks.filter((id) => this.#isThroughout(event, id, routing));
      const isWritten = demanded.every((id) => last?.webhooks.includes(id));
      const entry: Fact[] = isWritten ? [{ kind: 'routed', p, ...routing }] : [];
      // A late hand-out has lost the partition, and had confirmed nothing before.
      const sent = routing.webhooks.filter((id) => !isLate || this.#isRoute(event, id, routing.routed));
      const parts = sent.map((id) => ({ id, ...new Delivery(p, id, at, () => this.#retries++).parts(steps) }));
      // A delivery that is done is not handed out again.
      const partDone = (webhookId: number): Fact[] => (isLast ? [{ kind: 'part-done', p, webhookId }] : []);
      const heads: (readonly Fact[])[] = parts.map(({ id, head }) => [...head, ...partDone(id)]);
      if (isLate) late.push(...entry);
      else heads.splice(entryAt, 0, entry);
      const all = isConcurrent ? concurrent(heads) : heads.flat();
      const durable = isLast ? all : all.slice(0, givenUpAfter);
      for (const { head, tail } of parts)
        if (head.some((fact) => fact.kind !== 'letter' && durable.includes(fact))) tails.push(...tail);
      return durable;
    });
    return [...published, ...done, { kind: 'done', p }, ...late, ...tails];
  }

  /** A later confirmation never has an earlier revision; a late one may have a later revision than the last. */
  #routings(event: Payment, handOuts: readonly HandOut[]): readonly (Routed & { readonly isLate: boolean })[] {
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

  #isThroughout(event: Payment, id: number, { routed, confirmed }: Routed): boolean {
    return this.#isRoute(event, id, routed) && this.#isRoute(event, id, confirmed);
  }

  /** Whether the event was routed to the webhook at that revision. */
  #isRoute({ accountId, type }: Payment, id: number, revision: number): boolean {
    const changes = this.#accounts.get(accountId) ?? [];
    return typeOf(id) === type && webhooksAfter(changes.slice(0, revision + 1)).get(id) === true;
  }
}

/** A delivery to one webhook, in one hand-out. */
class Delivery {
  readonly #about: { readonly p: number; readonly webhookId: number };
  readonly #at: number;
  readonly #newId: () => number;
  #request: number | null = null;
  #attempts = 0;
  /** The retry record or the request that waits. */
  #open: number | null = null;
  #isDeferred = false;
  /** Retry records of the same step: a dispatcher was killed before it was done. */
  #copies: number[] = [];

  constructor(p: number, webhookId: number, at: number, newId: () => number) {
    this.#about = { p, webhookId };
    this.#at = at;
    this.#newId = newId;
  }

  /** head: the steps that the payment's record waits for. tail: the steps of the records that follow. */
  parts(steps: readonly number[]): { readonly head: readonly Fact[]; readonly tail: readonly Fact[] } {
    const [first = 0, ...rest] = steps;
    const head = [...this.#step(first % 10)];
    const tail: Fact[] = [];
    for (const step of rest) {
      const open = this.#open;
      if (open === null) tail.push(...(step > 5 ? this.#requested(step === 10) : []));
      else if (step <= 9) tail.push(...this.#taken(open, this.#step(step)));
      else if (step <= 13) tail.push(...this.#superseded(open, step));
      else tail.push(...this.#killed(open, step));
    }
    return { head, tail };
  }

  #step(step: number): readonly Fact[] {
    if (step <= 2) return this.#ended(1, 'delivered');
    if (step === 3) return this.#ended(0, 'cancelled');
    if (step === 4) return this.#exhausted(1);
    if (step === 5) return this.#exhausted(0);
    return step <= 7 ? this.#waits(1) : this.#waits(0);
  }

  /** The record is done, and its copies with it. */
  #taken(open: number, facts: readonly Fact[]): readonly Fact[] {
    const copies = this.#copies.splice(0);
    return [...facts, ...[open, ...copies].map((id): Fact => ({ kind: 'retried', id }))];
  }

  /** A request comes while a record waits, or while its attempt is under way: what waits is done, without an entry. */
  #superseded(open: number, step: number): readonly Fact[] {
    const underWay = step === 12 ? this.#waits(1) : step === 13 ? this.#exhausted(1) : [];
    const waiting = this.#open ?? open;
    const request = this.#requested(step % 3 === 1);
    if (waiting !== open) this.#copies.push(waiting);
    return [...request, ...this.#taken(open, underWay)];
  }

  /** Its retry record or dead letter is durable when the dispatcher is killed: the step is made anew, perhaps with another end. */
  #killed(open: number, step: number): readonly Fact[] {
    const [attempts, isDeferred] = [this.#attempts, this.#isDeferred];
    const [written] = step === 14 ? this.#waits(1) : this.#exhausted(1);
    const copies = step === 14 && this.#open !== null ? [this.#open] : [];
    [this.#attempts, this.#isDeferred, this.#open] = [attempts, isDeferred, open];
    const anew = this.#taken(open, this.#waits(1));
    this.#copies.push(...copies);
    return written ? [written, ...anew] : anew;
  }

  /** By its account, a recovery or a replay. A cancellation leaves nothing to do. */
  #requested(cancels: boolean): readonly Fact[] {
    const id = this.#newId();
    const request: Fact = { kind: 'request', ...this.#about, id, cancels };
    [this.#request, this.#attempts, this.#isDeferred] = [id, 0, false];
    this.#open = cancels ? null : id;
    return cancels ? [request, { kind: 'retried', id }] : [request];
  }

  #ended(attempts: number, outcome: Outcome): readonly Fact[] {
    this.#attempts += attempts;
    this.#open = null;
    return [this.#entry(outcome)];
  }

  #exhausted(attempts: number): readonly Fact[] {
    const entry = this.#ended(attempts, 'exhausted');
    return [{ kind: 'letter', ...this.#about, ...this.#progress() }, ...entry];
  }

  /** Deferred again, nothing is logged. */
  #waits(attempts: number): readonly Fact[] {
    this.#attempts += attempts;
    const isLogged = attempts > 0 || !this.#isDeferred;
    this.#isDeferred = attempts === 0;
    const id = this.#newId();
    this.#open = id;
    const tier = TIERS[this.#attempts % 2] ?? TIERS[0];
    const retry: Fact = { kind: 'retry', ...this.#about, ...this.#progress(), id, tier };
    return isLogged ? [retry, this.#entry('retrying')] : [retry];
  }

  #entry(outcome: Outcome): Fact {
    return { kind: 'entry', ...this.#about, ...this.#progress(), outcome, at: this.#at };
  }

  #progress() {
    return { request: this.#request, attempts: this.#attempts };
  }
}

/** The first of each list, then the second of each. */
function concurrent(lists: readonly (readonly Fact[])[]): readonly Fact[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, nth) => lists.flatMap((list) => list.slice(nth, nth + 1))).flat();
}

/** Each list keeps its order; the interleaving is random. */
function merged(lists: readonly (readonly Fact[])[], order: readonly number[]): readonly Fact[] {
  const left = lists.map((list) => [...list]);
  const all = order.flatMap((drawn) => left[drawn % left.length]?.splice(0, 1) ?? []);
  return [...all, ...left.flat()];
}
