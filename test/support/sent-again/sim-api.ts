/** An API process: a late view, requests, and the recoveries. */
import { RecoveryRunner } from '../../../src/delivery/again/recovery-runner.js';
import { createCancelDelivery, createSendAgain, type SendAgainParts } from '../../../src/delivery/again/send-again.js';
import type { Consumer } from '../../../src/ports/broker.js';
import type { DeliveryDetail } from '../../../src/ports/deliveries-view.js';
import { ACCOUNT } from '../delivery-samples.js';
import { silentLogger } from '../silent-logger.js';
import { Process } from './kernel.js';
import { GROUPS, SCHEDULE, TOPICS } from './settings.js';
import { SimReadModel } from './sim-account.js';
import { SimView } from './sim-view.js';
import type { World } from './world.js';

export class Api extends Process {
  readonly #world: World;
  view: SimView;
  readModel: SimReadModel;

  constructor(world: World, name: string) {
    super(world.kernel, name);
    this.#world = world;
    this.readModel = new SimReadModel(world.account, this);
    this.view = new SimView(world.topics, this, TOPICS, world.said);
  }

  #sendAgainParts(): SendAgainParts {
    const { kernel } = this;
    const budget = { take: () => (kernel.chance(0.05) ? 300 : 0) };
    const { accounts } = this.readModel;
    return { broker: this.#world.brokerFor(this), topics: TOPICS, accounts, schedule: SCHEDULE, budget };
  }

  async resend(): Promise<void> {
    const details = this.view.isCaughtUp ? this.view.rows.details() : [];
    if (details.length === 0) return;
    const asked = { trigger: 'resend', actor: 'account' } as const;
    await createSendAgain(this.#sendAgainParts())(this.kernel.pick(details), asked);
  }

  /** @returns whether there was something to cancel */
  cancel(among: (detail: DeliveryDetail) => boolean): boolean {
    const details = this.view.isCaughtUp ? this.view.rows.details() : [];
    const chosen = details.filter(among);
    if (chosen.length === 0) return false;
    const { id } = this.kernel.pick(chosen);
    const [newest, ...others] = details.filter((detail) => detail.id === id).toReversed();
    if (newest) void createCancelDelivery(this.#sendAgainParts())([newest, ...others], 'account');
    return true;
  }

  start(): void {
    this.readModel = new SimReadModel(this.#world.account, this);
    this.view = new SimView(this.#world.topics, this, TOPICS, this.#world.said);
    this.view.isHealed = this.#world.isHealing;
    this.#runRecoveries();
  }

  #runRecoveries(): void {
    const { kernel, readModel } = this;
    const { known, planted, groups } = this.#world;
    const isOwner = () => planted === 'no-ownership' || groups.recoveries.isOwner(TOPICS.requests, 0, this);
    const consume = async (): Promise<Consumer> => {
      await this.pause(kernel.between(50, 500));
      groups.recoveries.join(this, null);
      return { isOwner, closed: new Promise(() => undefined) } as Partial<Consumer> as Consumer;
    };
    const sendAgain = createSendAgain(this.#sendAgainParts());
    const asked: typeof sendAgain = async (detail, request) => {
      const told = known.recoveryAsks(request.trigger === 'recover' ? request.recovery : '', this, detail);
      const sent = await sendAgain(detail, request);
      told(sent);
      return sent;
    };
    const running = () => readModel.state.recoveries.filter(({ state }) => state === 'running');
    new RecoveryRunner({
      ...{ broker: { ...this.#world.brokerFor(this), consume }, topics: TOPICS, group: GROUPS.payments },
      recoveries: {
        scan: async () => undefined,
        now: () => running().map((recovery) => ({ accountId: ACCOUNT, recovery })),
      },
      ...{ view: this.view, accounts: readModel.accounts, handleCommand: readModel.handleCommand },
      ...{ sendAgain: asked, logger: silentLogger },
      ...{ now: () => kernel.now, monotonicNow: () => kernel.now },
      takeSend: () => (kernel.chance(0.1) ? 100 : 0),
      pause: (ms) => this.pause(Math.max(1, ms)),
    }).start();
  }
}
