/** The audit result expected from the remaining facts: looks up each payment and webhook separately. */
import type { ReceivedRecord } from '../../src/ports/broker.js';
import { type Entry, type Fact, type History, isRoute, TIERS, WEBHOOKS } from './payment-histories.js';

export interface Left {
  readonly history: History;
  readonly facts: readonly Fact[];
  readonly written: ReadonlyMap<Fact, ReceivedRecord>;
  /** The groups' committed offsets, by topic/partition. */
  readonly committed: ReadonlyMap<string, number>;
  readonly period: { readonly from: number; readonly to: number; readonly account: number | null };
  /** PAYMENT_TOPICS */
  readonly audited: readonly string[];
  /** Whether the store was restored after all that: what is of it is of a former one. */
  readonly isRestored: boolean;
}

type Of<K extends Fact['kind']> = Extract<Fact, { readonly kind: K }>;
type Outcome = 'delivered' | 'exhausted' | 'cancelled' | 'retrying' | 'waiting' | 'unanswered';

/** Of an entry. */
type Said = Pick<Entry, 'outcome' | 'attempts' | 'at'> & { readonly chain: number };

interface Told {
  readonly name: string;
  readonly outcome: Outcome;
  readonly tier?: string;
  readonly isUnexpected: boolean;
}

export class Oracle {
  readonly #left: Left;

  constructor(left: Left) {
    this.#left = left;
  }

  tell() {
    const records = this.#payments().map((fact) => ({
      ...this.#aboutRecord(fact),
      deliveries: this.#deliveries(fact),
    }));
    const deliveries = records.flatMap((one) => one.deliveries);
    const named = (outcome: Outcome) => deliveries.filter((one) => one.outcome === outcome).map(({ name }) => name);
    const states = (state: string) => records.filter((one) => one.state === state).map(({ name }) => name);
    const unexpected = deliveries.filter(({ isUnexpected }) => isUnexpected).map(({ name }) => name);
    const unanswered = [...named('unanswered'), ...states('unanswered')].sort();
    const tiers = [...TIERS, 'requests'].map(
      (tier) => [tier, deliveries.filter((one) => one.tier === tier).length] as const,
    );
    const valid = records.filter(({ key }) => key !== null);
    const events = [...new Set(valid.map(({ key }) => key))];
    const notDue = events.filter((key) =>
      valid.every((one) => one.key !== key || (one.isRouted && one.deliveries.length === 0)),
    );
    return {
      counts: {
        ...{ records: records.length, events: events.length, invalid: records.length - valid.length, unreadable: 0 },
        ...{ notDue: notDue.length, deliveries: deliveries.length },
        delivered: named('delivered').length,
        exhausted: named('exhausted').length,
        cancelled: named('cancelled').length,
        retrying: Object.fromEntries(tiers.filter(([, count]) => count > 0)),
        waiting: named('waiting').length + states('waiting').length,
        ...{ unanswered: unanswered.length, unexpected: unexpected.length },
      },
      ...{ unanswered, unexpected: unexpected.sort() },
    };
  }

  /** The remaining payments of the period. */
  #payments(): readonly Of<'payment'>[] {
    const { period, audited } = this.#left;
    return this.#all('payment').filter(({ p }) => {
      const { at, event } = this.#payment(p);
      const isOf = period.account === null || event?.accountId === period.account;
      return audited.includes(this.#place(p).topic) && isIn(period, at) && isOf;
    });
  }

  #aboutRecord({ p }: Of<'payment'>) {
    const { event } = this.#payment(p);
    const isRouted = this.#all('routed').some((one) => one.p === p);
    const isBuried = this.#all('buried').some((one) => one.p === p);
    const unknown = this.#isOpen(p) ? 'waiting' : 'unanswered';
    const state = isRouted || (isBuried && !(event && this.#isOpen(p))) ? 'joined' : unknown;
    return { name: this.#nameOf(p), key: event && `${event.accountId} ${event.id}`, isRouted, state };
  }

  #deliveries(fact: Of<'payment'>): readonly Told[] {
    return WEBHOOKS.flatMap((id) => this.#delivery(fact.p, id));
  }

  #delivery(p: number, id: number): readonly Told[] {
    const { event } = this.#payment(p);
    const entries = this.#all('routed').filter((one) => one.p === p);
    const accountEvents = this.#left.history.accounts.get(event?.accountId ?? 0) ?? [];
    const isRight = (revision: number) => event !== null && isRoute(accountEvents, event, id, revision);
    const isSound = (one: Of<'routed'>) =>
      one.store === 'own' && !this.#left.isRestored && one.confirmed < accountEvents.length;
    const own = entries.filter(isSound);
    const lists = entries.filter(({ webhooks }) => webhooks.includes(id));
    const isThroughout =
      own.some(({ routed, confirmed }) => isRight(routed) && isRight(confirmed)) || lists.some((one) => !isSound(one));
    const isDemanded = isThroughout || (lists.length > 0 && lists.length === entries.length);
    const said = this.#said(p, id);
    if (!isDemanded && lists.length === 0 && said.length === 0) return [];
    const outcome = this.#outcome(p, id, holding(said));
    if (outcome === null && !isDemanded) return [];
    const isActive = own.some(({ routed, confirmed }) => isRight(routed) || isRight(confirmed));
    const upTo = Math.max(-1, ...entries.map(({ confirmed }) => confirmed));
    const ever = Array.from({ length: upTo + 1 }, (_, revision) => revision).some(isRight);
    const isJudged = entries.length > 0 && own.length === entries.length && !isActive;
    // A request, as for what was missed, is a reason of its own.
    const isAsked = said.some(({ chain, outcome }) => chain > 0 && outcome !== 'cancelled');
    const isUnexpected = isJudged && (lists.length > 0 || (!this.#isOpen(p) && !ever && !isAsked));
    const missing = { outcome: this.#isOpen(p) ? 'waiting' : 'unanswered' } as const;
    return [{ name: `${this.#nameOf(p)} ${id}`, ...(outcome ?? missing), isUnexpected }];
  }

  /** Of entries, and of requests: each is the first entry of its chain. */
  #said(p: number, webhookId: number): readonly Said[] {
    const isIt = (one: { p: number; webhookId: number }) => one.p === p && one.webhookId === webhookId;
    const entries = this.#all('entry').filter((one) => one.placed && isIt(one));
    const isNamed = (one: Of<'request'>) => one.webhookId === webhookId && [one.p, ...one.others].includes(p);
    const requests = this.#all('request').filter(isNamed);
    return [
      ...entries.map((one) => ({ ...one, chain: this.#chain(one.request) })),
      ...requests.map(({ id, cancels }) => {
        const outcome = cancels ? ('cancelled' as const) : ('retrying' as const);
        return { outcome, chain: this.#chain(id), attempts: 0, at: id };
      }),
    ];
  }

  #chain(request: number | null): number {
    for (const [fact, { offset }] of this.#left.written)
      if (fact.kind === 'request' && fact.id === request) return offset + 1;
    return 0;
  }

  /** Null if the delivery is unknown; if it is known but does not fit, it is open or missing. */
  #outcome(p: number, webhookId: number, said: Said | null): { outcome: Outcome; tier?: string } | null {
    const missing = { outcome: this.#isOpen(p) ? 'waiting' : 'unanswered' } as const;
    const isIt = (one: { p: number; webhookId: number }) => one.p === p && one.webhookId === webhookId;
    const far = ({ chain, attempts }: Pick<Said, 'chain' | 'attempts'>) => chain * 1_000 + attempts;
    const progress = (one: { request: number | null; attempts: number }) =>
      far({ chain: this.#chain(one.request), attempts: one.attempts });
    const letter = Math.max(-1, ...this.#all('letter').filter(isIt).map(progress));
    const retries = this.#all('retry').map((one) => ({ ...one, far: progress(one), fact: one as Fact }));
    const requests = this.#all('request')
      .filter(({ cancels }) => !cancels)
      .map((one) => ({
        ...one,
        tier: 'requests',
        far: far({ chain: this.#chain(one.id), attempts: 0 }),
        fact: one as Fact,
      }));
    const waits = [...retries, ...requests].filter((one) => isIt(one) && this.#isWaiting(one.fact));
    const [waiting] = waits.toSorted((one, other) => other.far - one.far || other.id - one.id);
    const retrying = waiting && ({ outcome: 'retrying', tier: waiting.tier } as const);
    const isWaiting = retrying && waiting.far >= (said ? far(said) : 0);
    if (said?.outcome === 'delivered' || said?.outcome === 'cancelled') return { outcome: said.outcome };
    if (said?.outcome === 'exhausted' && letter >= far(said)) return { outcome: 'exhausted' };
    if (said) return isWaiting ? retrying : missing;
    if (letter >= 0 && !(waiting && waiting.far > letter)) return { outcome: 'exhausted' };
    return retrying ?? null;
  }

  #isOpen(p: number): boolean {
    const { topic, partition, offset } = this.#place(p);
    return offset >= (this.#left.committed.get(`${topic}/${partition}`) ?? 0);
  }

  #isWaiting(fact: Fact): boolean {
    const { topic, offset = 0 } = this.#left.written.get(fact) ?? {};
    return offset >= (this.#left.committed.get(`${topic}/0`) ?? 0);
  }

  #nameOf(p: number): string {
    const { topic, partition, offset } = this.#place(p);
    return `${topic}/${partition}/${offset}`;
  }

  #place(p: number): ReceivedRecord {
    for (const [fact, record] of this.#left.written) if (fact.kind === 'payment' && fact.p === p) return record;
    throw new Error(`payment ${p} was not published`);
  }

  #payment(p: number) {
    const payment = this.#left.history.payments[p];
    if (!payment) throw new Error(`there is no payment ${p}`);
    return payment;
  }

  #all<K extends Fact['kind']>(kind: K): readonly Of<K>[] {
    return this.#left.facts.filter((fact): fact is Of<K> => fact.kind === kind && !fact.isFormer);
  }
}

/** A record without a time is of each period. */
export function isIn({ from, to }: Pick<Left['period'], 'from' | 'to'>, at: number): boolean {
  return !hasTime(at) || (from <= at && at < to);
}

export function hasTime(at: number): boolean {
  return !Number.isNaN(new Date(at).getTime()) && at >= 0;
}

/** What was given up holds where all that came after it was cancelled. */
function holding(all: readonly Said[]): Said | null {
  const last = lastOf(all);
  return last?.outcome === 'cancelled' ? (lastOf(all.filter(({ outcome }) => outcome === 'exhausted')) ?? last) : last;
}

/** By narrowing: delivered, the last chain, most attempts, an end, given up, the latest. */
function lastOf(all: readonly Said[]): Said | null {
  const most = (of: (one: Said) => number) => (left: readonly Said[]) => {
    const highest = Math.max(...left.map(of));
    return left.filter((one) => of(one) === highest);
  };
  const narrowed = [
    most(({ outcome }) => Number(outcome === 'delivered')),
    most(({ chain }) => chain),
    most(({ attempts }) => attempts),
    most(({ outcome }) => Number(outcome !== 'retrying')),
    most(({ outcome }) => Number(outcome === 'exhausted')),
    most(({ at }) => at),
  ].reduce((left, narrow) => narrow(left), all);
  return narrowed[0] ?? null;
}
