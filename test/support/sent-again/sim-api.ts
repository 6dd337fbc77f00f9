/** An API process: a late view, requests, and the recoveries. */
import { RecoveryRun } from '../../../src/delivery/again/recovery-run.js';
import { createCancelDelivery, createSendAgain, type SendAgainParts } from '../../../src/delivery/again/send-again.js';
import type { DeliveryDetail } from '../../../src/ports/deliveries-view.js';
import type { Recovery } from '../../../src/webhooks/state.js';
import { ACCOUNT } from '../delivery-samples.js';
import { silentLogger } from '../silent-logger.js';
import { Process } from './kernel.js';
import { SCHEDULE, TOPICS } from './settings.js';
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
    this.after(this.kernel.between(50, 500), () => this.#world.groups.recoveries.join(this, null));
    void this.#runRecoveries();
  }

  /** As RecoveryRunner does, whose timers are real. */
  async #runRecoveries(): Promise<void> {
    const runs = new Set<string>();
    const isOwner = () => this.#world.groups.recoveries.isOwner(TOPICS.requests, 0, this);
    for (;;) {
      const running = this.readModel.state.recoveries.filter(({ state }) => state === 'running');
      for (const recovery of isOwner() ? running : []) {
        if (runs.has(recovery.id)) continue;
        runs.add(recovery.id);
        this.kernel.say(this.name, 'runs', recovery.id);
        void this.#recoveryRun(recovery).finally(() => runs.delete(recovery.id));
      }
      await this.pause(400);
    }
  }

  #recoveryRun(recovery: Recovery): Promise<void> {
    const { kernel } = this;
    const { known } = this.#world;
    const isOwner = () =>
      this.#world.planted === 'no-ownership' || this.#world.groups.recoveries.isOwner(TOPICS.requests, 0, this);
    const sendAgain = createSendAgain(this.#sendAgainParts());
    const parts = {
      ...{ broker: this.#world.brokerFor(this), topics: TOPICS, view: this.view, accounts: this.readModel.accounts },
      handleCommand: this.readModel.handleCommand,
      logger: silentLogger,
      now: () => kernel.now,
      monotonicNow: () => kernel.now,
      charged: <T>(_: number, read: () => T): T => read(),
      takeSend: () => (kernel.chance(0.1) ? 100 : 0),
      ...{ isOwner, pause: (ms: number) => this.pause(Math.max(1, ms)) },
    };
    const asked: typeof sendAgain = async (detail, request) => {
      const told = known.recoveryAsks(recovery.id, this, detail);
      const sent = await sendAgain(detail, request);
      told(sent);
      return sent;
    };
    return new RecoveryRun({ ...parts, sendAgain: asked }, { accountId: ACCOUNT, recovery }).done();
  }
}
