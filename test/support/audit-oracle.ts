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
    const tiers = TIERS.map((tier) => [tier, deliveries.filter((one) => one.tier === tier).length] as const);
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
    const said = this.#all('entry').filter((one) => one.placed && one.p === p && one.webhookId === id);
    if (!isDemanded && lists.length === 0 && said.length === 0) return [];
    const outcome = this.#outcome(p, id, lastOf(said));
    if (outcome === null && !isDemanded) return [];
    const isActive = own.some(({ routed, confirmed }) => isRight(routed) || isRight(confirmed));
    const upTo = Math.max(-1, ...entries.map(({ confirmed }) => confirmed));
    const ever = Array.from({ length: upTo + 1 }, (_, revision) => revision).some(isRight);
    const isJudged = entries.length > 0 && own.length === entries.length && !isActive;
    const isUnexpected = isJudged && (lists.length > 0 || (!this.#isOpen(p) && !ever));
    const missing = { outcome: this.#isOpen(p) ? 'waiting' : 'unanswered' } as const;
    return [{ name: `${this.#nameOf(p)} ${id}`, ...(outcome ?? missing), isUnexpected }];
  }

  /** Null if the delivery is unknown; if it is known but does not fit, it is open or missing. */
  #outcome(p: number, webhookId: number, said: Entry | null): { outcome: Outcome; tier?: string } | null {
    const missing = { outcome: this.#isOpen(p) ? 'waiting' : 'unanswered' } as const;
    const isIt = (one: { p: number; webhookId: number }) => one.p === p && one.webhookId === webhookId;
    const letters = this.#all('letter').filter(isIt);
    const letter = Math.max(-1, ...letters.map(({ turn }) => turn));
    const waits = this.#all('retry').filter((one) => isIt(one) && this.#isWaiting(one));
    const [waiting] = waits.toSorted((one, other) => other.turn - one.turn || other.id - one.id);
    const retrying = waiting && ({ outcome: 'retrying', tier: waiting.tier } as const);
    const isWaiting = retrying && waiting.turn >= (said?.turn ?? 0);
    if (said?.outcome === 'delivered' || said?.outcome === 'cancelled') return { outcome: said.outcome };
    if (said?.outcome === 'exhausted' && letter >= endOf(said)) return { outcome: 'exhausted' };
    if (said) return isWaiting ? retrying : missing;
    if (letter >= 0 && !(waiting && waiting.turn > letter)) return { outcome: 'exhausted' };
    return retrying ?? null;
  }

  #isOpen(p: number): boolean {
    const { topic, partition, offset } = this.#place(p);
    return offset >= (this.#left.committed.get(`${topic}/${partition}`) ?? 0);
  }

  #isWaiting(fact: Of<'retry'>): boolean {
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

/** The turn of its dead letter. */
function endOf({ outcome, turn, before }: Entry): number {
  return before && outcome === before.outcome ? before.turn : turn;
}

/** A record without a time is of each period. */
export function isIn({ from, to }: Pick<Left['period'], 'from' | 'to'>, at: number): boolean {
  return !hasTime(at) || (from <= at && at < to);
}

export function hasTime(at: number): boolean {
  return !Number.isNaN(new Date(at).getTime()) && at >= 0;
}

/** By narrowing: delivered, the highest turn, an end, the latest. */
function lastOf(entries: readonly Entry[]): Entry | null {
  const narrowed = [
    (all: readonly Entry[]) => all.filter(({ outcome }) => outcome === 'delivered'),
    (all: readonly Entry[]) => all.filter(({ turn }) => turn === Math.max(...all.map((one) => one.turn))),
    (all: readonly Entry[]) => all.filter(({ outcome }) => outcome !== 'retrying'),
    (all: readonly Entry[]) => all.filter(({ at }) => at === Math.max(...all.map((one) => one.at))),
    (all: readonly Entry[]) => all.filter(({ outcome }) => outcome === 'exhausted'),
    (all: readonly Entry[]) => all.filter(({ outcome, before }) => outcome === before?.outcome),
  ].reduce((left, narrow) => (narrow(left).length > 0 ? narrow(left) : left), entries);
  return narrowed[0] ?? null;
}
