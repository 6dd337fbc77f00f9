/** Two dispatchers and two API processes, of the real parts, over simulated topics and one simulated account. */
import { auditCompleteness } from '../../../src/audit/completeness.js';
import { RecoveryRun } from '../../../src/delivery/again/recovery-run.js';
import { type Request, requestIn } from '../../../src/delivery/again/request.js';
import { createCancelDelivery, createSendAgain, type SendAgainParts } from '../../../src/delivery/again/send-again.js';
import { dueOf } from '../../../src/delivery/delivery.js';
import { toLogRecord } from '../../../src/delivery/log/log-record.js';
import { confirmedRecipientOf } from '../../../src/delivery/recipient.js';
import { replayDeadLetters } from '../../../src/delivery/retry/replay.js';
import { longestWaitMs } from '../../../src/delivery/retry/retry-schedule.js';
import { topicsOf } from '../../../src/delivery/topics.js';
import type { Broker, ReceivedRecord } from '../../../src/ports/broker.js';
import type { DeliveryDetail } from '../../../src/ports/deliveries-view.js';
import { type DeliveryFold, statusOf } from '../../../src/ports/delivery-order.js';
import { topicRecords } from '../../../src/ports/topic-records.js';
import type { Command } from '../../../src/webhooks/decide.js';
import { ACCOUNT } from '../delivery-samples.js';
import { silentLogger } from '../silent-logger.js';
import { LAST_FAILURE } from '../webhook-samples.js';
import { Kernel, Process } from './kernel.js';
import { Known } from './known.js';
import { SimAccount, SimReadModel } from './sim-account.js';
import { brokerOf, SimGroup, SimTopics } from './sim-broker.js';
import { startDispatcher } from './sim-dispatcher.js';
import { type Said, SimView } from './sim-view.js';

/** Defects for the property to find. */
export type Planted =
  | 'asked-only-before-the-queue'
  | 'no-deferrals-in-the-identity'
  | 'one-maximum'
  | 'a-letter-replayed-once-only'
  | 'no-head-confirmation'
  | 'no-read-at-the-start'
  | 'no-ownership';

export interface WorldOptions {
  readonly seed: number;
  readonly planted?: Planted | undefined;
  /** Of the requests that a dispatcher remembers. */
  readonly mostRemembered?: number | undefined;
  /**
   * What happens more often. kills: of all dispatchers, while a cancelled record waits. freezes: of a recovery's owner. pauses: of
   * webhooks, when something was requested.
   */
  readonly bias?: 'kills' | 'freezes' | 'pauses' | undefined;
}

export const SCHEDULE = [
  { text: '3s', ms: 3_000 },
  { text: '10s', ms: 10_000 },
] as const;
export const TOPICS = topicsOf(['payments'], '');
export const TIMEOUT_MS = 4_000;
const GROUPS = { payments: 'group', retries: 'group.retry' };
const SESSION_MS = 3_000;

export interface Receiver {
  /** How many of its answers are 2xx, and 410. */
  readonly ok: number;
  readonly gone: number;
  readonly isSlow: boolean;
}

interface Api extends Process {
  view: SimView;
  readModel: SimReadModel;
}

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
  readonly command: Process;
  readonly auditor: Process;
  /** Of replays: letters that were replayed. */
  readonly #replayed = new Set<number>();
  readonly #requests: Requested[] = [];
  isReplaying = false;
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
    this.apis = [new Process(kernel, 'A1') as Api, new Process(kernel, 'A2') as Api];
    [this.command, this.auditor] = [new Process(kernel, 'command'), new Process(kernel, 'auditor')];
    this.auditor.begin();
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
    for (const delay of SCHEDULE) topics.create(TOPICS.tier(delay), 2);
    topics.create(TOPICS.requests, 1);
    topics.create(TOPICS.deadLetters, 1);
    topics.create(TOPICS.deliveries, 3);
    for (const partition of [0, 1]) {
      const start = { topic: 'payments', partition, expected: null, offset: 0 };
      topics.append(TOPICS.deliveries, toLogRecord({ starts: [start] }));
    }
  }

  #createGroups() {
    const { topics, known, kernel } = this;
    const onAgain = (record: ReceivedRecord) => known.handedOutAgain(record);
    const notBefore = (record: ReceivedRecord) => {
      const tier = TOPICS.tierOf(record.topic);
      return Math.min(dueOf(record), kernel.now + (tier ? longestWaitMs(tier) : 0));
    };
    const tiers = SCHEDULE.map((delay) => TOPICS.tier(delay));
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
    if (this.dispatchers.includes(one)) startDispatcher(this, one);
    else this.#startApi(one as Api);
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

  #sendAgainParts(one: Api): SendAgainParts {
    const { kernel } = this;
    const budget = { take: () => (kernel.chance(0.05) ? 300 : 0) };
    const { accounts } = one.readModel;
    return { broker: this.brokerFor(one), topics: TOPICS, accounts, schedule: SCHEDULE, budget };
  }

  brokerFor(one: Process): Broker {
    const broker = brokerOf(this.topics, one);
    return broker as unknown as Broker;
  }

  async resend(one: Api): Promise<void> {
    const details = one.view.isCaughtUp ? one.view.rows.details() : [];
    if (details.length === 0) return;
    const asked = { trigger: 'resend', actor: 'account' } as const;
    await createSendAgain(this.#sendAgainParts(one))(this.kernel.pick(details), asked);
  }

  /** @returns whether there was something to cancel */
  cancel(one: Api, among: (detail: DeliveryDetail) => boolean): boolean {
    const details = one.view.isCaughtUp ? one.view.rows.details() : [];
    const chosen = details.filter(among);
    if (chosen.length === 0) return false;
    const { id } = this.kernel.pick(chosen);
    const [newest, ...others] = details.filter((detail) => detail.id === id).toReversed();
    if (newest) void createCancelDelivery(this.#sendAgainParts(one))([newest, ...others], 'account');
    return true;
  }

  /** @returns how it can be interrupted */
  replay(): () => void {
    const { command, kernel } = this;
    kernel.say('replay');
    command.begin();
    this.isReplaying = true;
    void this.#replay().finally(() => {
      this.isReplaying = false;
    });
    const { incarnation } = command;
    return () => {
      if (!this.isReplaying || command.incarnation !== incarnation) return;
      kernel.say('the replay is killed');
      command.kill();
      kernel.after(200, () => {
        this.isReplaying = false;
      });
    };
  }

  async #replay(): Promise<void> {
    const { command, account, kernel } = this;
    const webhook = (_: number, id: number) => account.webhook(id);
    const recipientNow: Parameters<typeof replayDeadLetters>[0]['recipientNow'] = async (delivery) => {
      await command.pause(5);
      return confirmedRecipientOf(delivery, { webhook, unreadable: () => null }, async (_, id) => !account.webhook(id));
    };
    const broker = this.brokerFor(command);
    const parts = { broker, topics: TOPICS, recipientNow, isReadable: async () => true, now: () => kernel.now };
    const isOnce = this.planted === 'a-letter-replayed-once-only';
    const wanted = ({ offset }: { offset: number }) => !isOnce || !this.#replayed.has(offset);
    for await (const { kind, letter } of replayDeadLetters({ ...parts, actor: 'operator' }, wanted)) {
      if (kind === 'replayed') this.#replayed.add(letter.offset);
    }
    kernel.say('the replay ends');
  }

  async audit(when: string): Promise<void> {
    const broker = this.brokerFor(this.auditor);
    const records = (topic: string, options: object = {}) => topicRecords(broker, topic, options);
    const store = { read: this.account.read(this.auditor) };
    const parts = { broker, records, store, topics: TOPICS, groups: GROUPS, progress: () => undefined };
    const report = await auditCompleteness(parts, { from: 0, to: Number.MAX_SAFE_INTEGER, account: null });
    this.known.audited(when, report);
  }

  #startApi(one: Api): void {
    one.readModel = new SimReadModel(this.account, one);
    one.view = new SimView(this.topics, one, TOPICS, this.said);
    one.view.isHealed = this.isHealing;
    one.after(this.kernel.between(50, 500), () => this.groups.recoveries.join(one, null));
    void this.#runRecoveries(one);
  }

  /** As RecoveryRunner does, whose timers are real. */
  async #runRecoveries(one: Api): Promise<void> {
    const runs = new Set<string>();
    const isOwner = () => this.groups.recoveries.isOwner(TOPICS.requests, 0, one);
    for (;;) {
      const running = one.readModel.state.recoveries.filter(({ state }) => state === 'running');
      for (const recovery of isOwner() ? running : []) {
        if (runs.has(recovery.id)) continue;
        runs.add(recovery.id);
        this.kernel.say(one.name, 'runs', recovery.id);
        void this.#recoveryRun(one, recovery).finally(() => runs.delete(recovery.id));
      }
      await one.pause(400);
    }
  }

  #recoveryRun(one: Api, recovery: SimReadModel['state']['recoveries'][number]): Promise<void> {
    const { kernel, known } = this;
    const isOwner = () => this.planted === 'no-ownership' || this.groups.recoveries.isOwner(TOPICS.requests, 0, one);
    const sendAgain = createSendAgain(this.#sendAgainParts(one));
    const parts = {
      ...{ broker: this.brokerFor(one), topics: TOPICS, view: one.view, accounts: one.readModel.accounts },
      handleCommand: one.readModel.handleCommand,
      logger: silentLogger,
      now: () => kernel.now,
      monotonicNow: () => kernel.now,
      charged: <T>(_: number, read: () => T): T => read(),
      takeSend: () => (kernel.chance(0.1) ? 100 : 0),
      ...{ isOwner, pause: (ms: number) => one.pause(Math.max(1, ms)) },
    };
    const asked: typeof sendAgain = async (detail, request) => {
      const told = known.recoveryAsks(recovery.id, one, detail);
      const sent = await sendAgain(detail, request);
      told(sent);
      return sent;
    };
    return new RecoveryRun({ ...parts, sendAgain: asked }, { accountId: ACCOUNT, recovery }).done();
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
