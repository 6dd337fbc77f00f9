/** Two dispatchers and two API processes, of the real parts, over simulated topics and one simulated account. */
import { type Request, requestIn } from '../../../src/delivery/again/request.js';
import { dueOf } from '../../../src/delivery/delivery.js';
import { longestWaitMs } from '../../../src/delivery/retry/retry-schedule.js';
import type { Broker, ReceivedRecord } from '../../../src/ports/broker.js';
import { type DeliveryFold, statusOf } from '../../../src/ports/delivery-order.js';
import type { Command } from '../../../src/webhooks/decide.js';
import { ACCOUNT } from '../delivery-samples.js';
import { LAST_FAILURE } from '../webhook-samples.js';
import { Commands } from './commands.js';
import { Kernel, Process } from './kernel.js';
import { Known } from './known.js';
import { GROUPS, type Planted, type Receiver, SESSION_MS, TIERS, TOPICS, type WorldOptions } from './settings.js';
import { SimAccount } from './sim-account.js';
import { Api } from './sim-api.js';
import { brokerOf, SimTopics } from './sim-broker.js';
import { startDispatcher } from './sim-dispatcher.js';
import { SimGroup } from './sim-group.js';
import type { Said } from './sim-view.js';

export interface Requested {
  readonly request: Request;
  readonly at: number;
}

export class World {
  readonly kernel: Kernel;
  readonly planted: Planted | undefined;
  readonly mostRemembered: number | undefined;
  readonly topics: SimTopics;
  readonly account: SimAccount;
  readonly known: Known;
  readonly webhookIds: readonly number[];
  readonly receivers = new Map<number, Receiver>();
  readonly groups: Readonly<Record<'payments' | 'retries' | 'recoveries', SimGroup>>;
  readonly dispatchers: readonly Process[];
  readonly apis: readonly Api[];
  readonly commands: Commands;
  readonly #requests: Requested[] = [];
  /** Nothing fails any more but receivers; and then no receiver either. */
  isHealing = false;
  isAllOk = false;

  constructor({ seed, planted, mostRemembered, bias }: WorldOptions) {
    const kernel = new Kernel(seed);
    [this.kernel, this.planted, this.mostRemembered] = [kernel, planted, mostRemembered];
    this.topics = new SimTopics(kernel);
    this.#createTopics();
    this.webhookIds = [1, 2, 3].slice(0, kernel.between(1, 3));
    this.account = new SimAccount(kernel, this.webhookIds);
    this.known = new Known(this);
    for (const id of this.webhookIds) {
      const gone = kernel.chance(0.15) ? 0.1 : 0;
      const ok = bias === undefined ? kernel.pick([0.1, 0.5, 0.9]) : 0.1;
      this.receivers.set(id, { ok, gone, isSlow: kernel.chance(0.4) });
    }
    this.groups = this.#createGroups();
    this.dispatchers = [new Process(kernel, 'D1'), new Process(kernel, 'D2')];
    this.apis = [new Api(this, 'A1'), new Api(this, 'A2')];
    this.commands = new Commands(this);
    for (const one of this.processes) this.start(one);
  }

  get processes(): readonly Process[] {
    return [...this.dispatchers, ...this.apis];
  }

  /** What holds of a delivery. */
  readonly said: Said = (fold: DeliveryFold<Parameters<Said>[0]['last']>) =>
    this.planted === 'one-maximum' ? fold.last : statusOf(fold);

  #createTopics(): void {
    const { topics } = this;
    topics.create('payments', 2);
    for (const { topic } of TIERS) topics.create(topic, 2);
    topics.create(TOPICS.requests, 1);
    topics.create(TOPICS.deadLetters, 1);
    topics.create(TOPICS.deliveries, 3);
  }

  #createGroups() {
    const { topics, known, kernel } = this;
    const onAgain = (record: ReceivedRecord) => known.handedOutAgain(record);
    const notBefore = (record: ReceivedRecord) => {
      const tier = TOPICS.tierOf(record.topic);
      return Math.min(dueOf(record), kernel.now + (tier ? longestWaitMs(tier) : 0));
    };
    const tiers = TIERS.map(({ topic }) => topic);
    return {
      payments: new SimGroup(topics, { name: GROUPS.payments, topics: ['payments'], onAgain }),
      retries: new SimGroup(topics, { name: GROUPS.retries, topics: [...tiers, TOPICS.requests], onAgain, notBefore }),
      recoveries: new SimGroup(topics, { name: 'group.recoveries', topics: [TOPICS.requests] }),
    };
  }

  start(one: Process): void {
    if (one.isAlive) return;
    this.kernel.say('start', one.name);
    one.begin();
    if (one instanceof Api) one.start();
    else startDispatcher(this, one);
  }

  /** @param downMs until it starts again */
  kill(one: Process, downMs = this.kernel.between(300, 7_500)): void {
    if (!one.isAlive) return;
    const { kernel } = this;
    kernel.say('kill', one.name);
    one.kill();
    this.known.disturbed(one);
    const { incarnation } = one;
    kernel.after(kernel.between(50, SESSION_MS), () => {
      if (one.incarnation === incarnation) this.#leave(one);
    });
    kernel.after(downMs, () => this.start(one));
  }

  freeze(one: Process, ms: number): void {
    if (!one.isAlive || one.isFrozen) return;
    const { kernel } = this;
    kernel.say('freeze', one.name, ms);
    one.freeze(ms);
    this.known.disturbed(one);
    const { incarnation } = one;
    if (ms < SESSION_MS) return;
    kernel.after(SESSION_MS, () => {
      if (one.incarnation !== incarnation) return;
      const rejoin = this.#leave(one);
      kernel.at(one.frozenUntil, () => {
        if (one.incarnation === incarnation) one.after(kernel.between(50, 1_500), rejoin);
      });
    });
  }

  thaw(): void {
    for (const one of this.processes) one.frozenUntil = Math.min(one.frozenUntil, this.kernel.now);
  }

  rebalance(): void {
    this.kernel.say('rebalance');
    for (const one of this.dispatchers) this.known.disturbed(one);
    for (const group of Object.values(this.groups)) group.rebalance();
  }

  /** @returns what lets it join again */
  #leave(one: Process): () => void {
    this.known.disturbed(one);
    const rejoin = Object.values(this.groups).map((group) => group.leave(one));
    return () => {
      this.known.disturbed(one);
      for (const join of rejoin) join();
    };
  }

  publish(id: string): void {
    const value = Buffer.from(JSON.stringify({ id, type: 'cash_in', accountId: ACCOUNT, data: {} }));
    const record = this.topics.append('payments', { key: null, value, headers: [] });
    this.kernel.say('payment', id, `${record.partition}/${record.offset}`);
  }

  give(command: Command): void {
    this.account.handle(command);
  }

  at(): string {
    return new Date(this.kernel.now).toISOString();
  }

  switch(id: number, isActive: boolean): void {
    this.give({ type: 'UpdateWebhook', webhookId: id, isActive, at: this.at() });
  }

  /** As a dispatcher does after a 410. */
  switchOff(id: number): void {
    const version = this.account.webhook(id)?.version ?? 0;
    const reason = 'the endpoint answered 410 Gone';
    this.give({ type: 'DeactivateWebhook', webhookId: id, version, reason, lastFailure: LAST_FAILURE, at: this.at() });
  }

  recover(recoveryId: string, webhookIds: readonly number[], perSecond: number): void {
    const { kernel } = this;
    const [since, until] = [new Date(0).toISOString(), new Date(kernel.now + 1).toISOString()];
    const request = {
      recoveryId,
      webhookIds,
      since,
      until,
      include: ['exhausted', 'held'],
      count: 1,
      actor: 'account',
    };
    this.known.recoveryStarts(recoveryId, webhookIds);
    this.give({ type: 'StartRecovery', ...request, perSecond, at: this.at() });
  }

  brokerFor(one: Process): Broker {
    const broker = brokerOf(this.topics, one);
    return broker as unknown as Broker;
  }

  /** What the requests topic says. */
  requests(): readonly Requested[] {
    const records = this.topics.all(TOPICS.requests);
    for (const record of records.slice(this.#requests.length)) {
      const request = requestIn(record);
      if (request) this.#requests.push({ request, at: record.timestamp });
    }
    return this.#requests;
  }
}
