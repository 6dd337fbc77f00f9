/** An installation of several dispatchers, whose account resends, cancels, recovers and replays at random while they crash. */

import { entriesOfRequest } from '../../../../src/delivery/again/request.js';
import { createCancelDelivery, createSendAgain } from '../../../../src/delivery/again/send-again.js';
import { fromRetryRecord } from '../../../../src/delivery/delivery.js';
import { folded } from '../../../../src/delivery/log/delivery-log.js';
import { confirmedRecipientOf } from '../../../../src/delivery/recipient.js';
import { paymentText, placeOf } from '../../../../src/delivery/record-place.js';
import { replayDeadLetters } from '../../../../src/delivery/retry/replay.js';
import { topicsOf } from '../../../../src/delivery/topics.js';
import { requester } from '../../../../src/limits/user-limits.js';
import { webhookMessageId } from '../../../../src/payments/parsed-payment.js';
import type { Broker, NewRecord } from '../../../../src/ports/broker.js';
import { type DeliveryStatus, type Outcome, statusOf } from '../../../../src/ports/delivery-order.js';
import type { DeliveryLogEntry } from '../../../../src/ports/log-entry.js';
import { deliveriesIn } from '../../generators/bundles.js';
import { ACCOUNT, NOW, named } from '../../generators/delivery-samples.js';
import { type Seeded, seeded } from '../../generators/seeded.js';
import { ResendJudge } from '../../oracles/resends.js';
import { RecordingBroker } from '../../servers/recording-broker.js';
import { DeliverFixture, SCHEDULE } from '../deliver-fixture.js';
import { FakeAccounts, webhookOf } from '../fake-accounts.js';
import { MemoryRequestChains } from '../memory-request-chains.js';
import { detail } from '../recoverable-view.js';
import { scratchInMemory } from '../scratch-in-memory.js';
import { SharedTopics } from './shared-topics.js';
import { SimulatedDispatcher } from './simulated-dispatcher.js';

/** Defects that the world itself can have; the others are planted into modules (planted-defects.ts). */
export interface PlantedInWorld {
  readonly ignoresOwnership?: boolean;
  /** A record counts as done once it is handed out. */
  readonly commitsEarly?: boolean;
  readonly losesRetryRecord?: () => boolean;
  readonly chains?: () => MemoryRequestChains;
  /** What the service says of a delivery with these entries. */
  readonly statusOf?: (entries: readonly DeliveryStatus[]) => Outcome | undefined;
}

const PAYMENTS = 'payment-events';
const BY = requester(ACCOUNT, 'ana');
const DISPATCHERS = 2;
const WEBHOOKS = [1, 2];
const EVENTS = 3;
const MAX_PAYMENTS = 5;
const ACTIONS = 160;
const MAX_TICKS_OF_END = 20_000;

export class ResendWorld {
  readonly topics = topicsOf([PAYMENTS], '');
  readonly shared = new SharedTopics<SimulatedDispatcher>();
  readonly accounts = new FakeAccounts();
  readonly judge = new ResendJudge();
  readonly planted: PlantedInWorld;
  readonly clock: { readonly now: () => number };
  /** What all dispatchers share. */
  readonly parts: DeliverFixture['parts'];
  readonly #random: Seeded;
  #now = NOW;
  /** Deliveries in the bundle that had most. */
  largestBundle = 0;
  readonly #dispatchers: SimulatedDispatcher[] = [];
  readonly #chains: MemoryRequestChains[] = [];
  readonly #requested: DeliveryLogEntry[] = [];
  readonly #sendAgain: ReturnType<typeof createSendAgain>;
  readonly #cancel: ReturnType<typeof createCancelDelivery>;

  constructor(seed: number, planted: PlantedInWorld = {}) {
    this.#random = seeded(seed);
    this.planted = planted;
    this.clock = { now: () => this.#now };
    // One endpoint: their deliveries share bundles.
    const { endpoint } = webhookOf(1);
    this.accounts.put(...WEBHOOKS.map((id) => webhookOf(id, { endpoint })));
    const { accounts, clock, topics } = this;
    this.parts = new DeliverFixture({ accounts, now: clock.now, monotonicNow: clock.now, random: () => 0.5 }).parts;
    const budget = { take: () => 0 };
    const record = async (payment: string) =>
      this.shared.of(PAYMENTS).find((one) => paymentText(placeOf(one)) === payment) ?? null;
    const parts = { broker: this.#api, topics, accounts, budget, schedule: SCHEDULE, payloads: { record } };
    this.#sendAgain = createSendAgain(parts);
    this.#cancel = createCancelDelivery(parts);
  }

  /** @returns what broke a promise */
  async run(): Promise<readonly string[]> {
    for (let n = 0; n < DISPATCHERS; n += 1) await this.#start(n);
    this.#publish();
    for (let n = 0; n < ACTIONS && this.judge.violations.length === 0; n += 1) {
      await this.#act();
      await settled();
    }
    if (this.judge.violations.length === 0) await this.#end();
    for (const dispatcher of this.#dispatchers) await dispatcher.kill();
    return this.judge.violations;
  }

  /** By a dispatcher, to a tier. */
  published(bundles: readonly NewRecord[]): void {
    for (const bundle of bundles) this.largestBundle = Math.max(this.largestBundle, deliveriesIn(bundle).length);
  }

  async #act(): Promise<void> {
    const choice = this.#random.below(100);
    if (choice < 6) this.#publish();
    else if (choice < 40) await this.#handOut();
    else if (choice < 72) this.#grant();
    else if (choice < 78) this.#any(this.#dispatchers)?.follow(1 + this.#random.below(3));
    else if (choice < 88) await this.#request();
    else if (choice < 89) await this.#replay();
    else if (choice < 92) await this.#kill(this.#random.below(DISPATCHERS));
    else if (choice < 95) this.#rebalance();
    else this.#now += 1_000 * 10 ** this.#random.below(4);
  }

  /** Some events are published again: each publication is a delivery. */
  #publish(): void {
    if (this.shared.of(PAYMENTS).length >= MAX_PAYMENTS) return;
    const id = `pay-${this.#random.below(EVENTS)}`;
    const value = Buffer.from(JSON.stringify({ id, type: 'cash_in', accountId: ACCOUNT }));
    this.shared.append(PAYMENTS, [{ key: Buffer.from(String(ACCOUNT)), value, headers: [] }], this.#now);
  }

  async #handOut(): Promise<boolean> {
    for (const topic of this.#shuffled(this.#consumedTopics())) {
      if (await this.shared.ownerOf(topic)?.handOutNext(topic)) return true;
    }
    return false;
  }

  #grant(): void {
    const dispatcher = this.#any(this.#dispatchers.filter(({ awaited }) => awaited.length > 0));
    if (!dispatcher) return;
    const [one] = dispatcher.awaited.splice(this.#random.below(dispatcher.awaited.length), 1);
    one?.grant(this.#random.below(10) < (one.kind === 'slot' ? 5 : 3));
  }

  async #request(): Promise<void> {
    const [, entries = []] = this.#any([...this.judge.entries]) ?? [];
    const [entry] = entries;
    if (!entry) return;
    const { outcome, step = null } = this.#status(this.#keyOf(entry)) ?? entry;
    const choice = this.#random.below(3);
    const { id, webhookId, webhookEvent, eventId, eventType, payment = '' } = entry;
    const about = { id, webhookId, webhookEvent, eventId, eventType, payment };
    const known = { ...detail(1, { ...about, outcome, step }), payment };
    if (outcome === 'retrying' && choice > 0) {
      const others = [...this.judge.entries.values()].flatMap(([one]) => one ?? []);
      const named = others.filter((one) => one.id === id && one.payment !== payment);
      const waiting = named.filter((one) => this.#status(this.#keyOf(one))?.outcome === 'retrying');
      await this.#cancel([known, ...waiting.map((one) => ({ ...known, payment: one.payment ?? '' }))], 'ana', BY);
    } else if (outcome === 'exhausted' && choice > 0) {
      await this.#sendAgain(known, { trigger: 'recover', actor: 'ana', recovery: 'recovery-1' });
    } else await this.#sendAgain(known, { trigger: 'resend', actor: 'ana' });
  }

  async #replay(): Promise<void> {
    const { accounts, topics } = this;
    const wasRemoved = async () => false;
    const scratch = scratchInMemory();
    const replays = replayDeadLetters(
      {
        ...{ broker: this.#api, topics, scratch, now: this.clock.now, actor: 'cli:ana' },
        recipientNow: (delivery) => confirmedRecipientOf(delivery, accounts, wasRemoved),
        isReadable: async () => true,
      },
      () => true,
    );
    for await (const _ of replays);
  }

  async #start(n: number): Promise<void> {
    const chains = this.#chains[n] ?? (this.planted.chains ?? (() => new MemoryRequestChains()))();
    this.#chains[n] = chains;
    const dispatcher = new SimulatedDispatcher(this, chains);
    this.#dispatchers[n] = dispatcher;
    await dispatcher.start();
    for (const topic of this.#consumedTopics()) {
      if (this.shared.ownerOf(topic) === null) this.shared.assign(topic, dispatcher, { keepsDone: true });
    }
  }

  /** Its topics move to the others; a machine that is replaced has lost its file. */
  async #kill(n: number): Promise<void> {
    const killed = this.#dispatchers[n];
    if (!killed) return;
    await killed.kill();
    const heir = this.#dispatchers[(n + 1) % DISPATCHERS] ?? null;
    for (const topic of this.#consumedTopics()) {
      if (this.shared.ownerOf(topic) !== killed) continue;
      this.shared.assign(topic, heir, { keepsDone: false, uncommitted: this.#random.below(3) });
    }
    if (this.#random.below(4) === 0)
      this.#chains.splice(n, 1, (this.planted.chains ?? (() => new MemoryRequestChains()))());
    await this.#start(n);
  }

  #rebalance(): void {
    const topic = this.#any(this.#consumedTopics());
    const owner = this.#any(this.#dispatchers);
    if (topic && owner) this.shared.assign(topic, owner, { keepsDone: this.#random.below(2) === 0 });
  }

  /** Everything works from now on, until nothing is left to do. */
  async #end(): Promise<void> {
    for (let tick = 0; !(await this.#isOver()); tick += 1) {
      if (tick > MAX_TICKS_OF_END) throw new Error('the simulation does not end');
      if (this.judge.violations.length > 0) return;
    }
    const letters = this.shared.of(this.topics.deadLetters).flatMap((letter) => fromRetryRecord(letter) ?? []);
    const chainsOf = (key: string) => letters.filter((one) => this.#keyOf(one) === key).map(({ chain }) => chain);
    this.judge.ended(this.#deliveries(), chainsOf, (key) => this.#status(key)?.outcome ?? null);
  }

  /** Goes one step towards the end. */
  async #isOver(): Promise<boolean> {
    for (const dispatcher of this.#dispatchers) dispatcher.follow(Number.MAX_SAFE_INTEGER);
    await settled();
    const waiting = this.#dispatchers.find(({ awaited }) => awaited.length > 0);
    if (waiting) waiting.awaited.shift()?.grant(true);
    else if (!(await this.#handOut())) {
      if (this.#consumedTopics().every((topic) => this.shared.next(topic) === null)) return true;
      this.#now += 60_000;
    }
    return false;
  }

  /** What the service says of a delivery, from its entries and requests. */
  #status(key: string): (DeliveryStatus & { readonly step?: number | undefined }) | null {
    const own = this.#requested.filter((entry) => this.#keyOf(entry) === key);
    const entries = [...own, ...(this.judge.entries.get(key) ?? [])].map((entry, at) => ({ ...entry, at }));
    const fold = folded(entries);
    if (!fold) return null;
    const status = statusOf(fold);
    return { ...status, outcome: this.planted.statusOf?.(entries) ?? status.outcome };
  }

  #deliveries(): string[] {
    return this.shared.of(PAYMENTS).flatMap((record) => {
      const { id: eventId } = JSON.parse(String(record.value));
      const about = { eventId, eventSource: null };
      return WEBHOOKS.map((id) => `${webhookMessageId(ACCOUNT, about, named(id).id)} ${paymentText(placeOf(record))}`);
    });
  }

  #keyOf({ id, payment }: { readonly id: string; readonly payment?: string | null | undefined }): string {
    return `${id} ${payment}`;
  }

  #consumedTopics(): string[] {
    const { retry, deferred } = this.topics.tiers(SCHEDULE);
    return [PAYMENTS, this.topics.requests, ...[...retry, ...deferred].map(({ topic }) => topic)];
  }

  /** For the API and commands, which no crash meets. */
  get #api(): Broker {
    const { shared, judge, topics } = this;
    return Object.assign(new RecordingBroker(), {
      publish: async (topic: string, records: readonly NewRecord[]) => {
        const offsets = shared.append(topic, records, this.#now);
        const requests = topic === topics.requests ? shared.of(topic).slice(offsets[0]) : [];
        for (const request of requests) judge.requested(request);
        this.#requested.push(...requests.flatMap((record) => entriesOfRequest(record)));
        return offsets;
      },
      extent: async (topic: string) => new Map([[0, { first: 0, next: shared.of(topic).length }]]),
      async *follow(topic: string) {
        const items = shared.of(topic);
        yield { partition: 0, items, position: { offset: items.length, before: null }, end: items.length };
      },
    });
  }

  #any<T>(all: readonly T[]): T | undefined {
    return all[this.#random.below(all.length)];
  }

  #shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((one) => ({ one, by: this.#random.below(1_000) }))
      .sort((a, b) => a.by - b.by)
      .map(({ one }) => one);
  }
}

/** Promises settle, and the log's entries are written. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 3; tick += 1) await new Promise((resolve) => setImmediate(resolve));
}
