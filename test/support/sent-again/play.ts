/** A random day of a world, until everything is at rest; then what was given up is put back, and has to arrive. */
import { checkAtRest } from './at-rest.js';
import type { Process } from './kernel.js';
import type { Violation } from './known.js';
import type { WorldOptions } from './settings.js';
import { World } from './world.js';

export type Day = WorldOptions;

export interface Played {
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
  readonly attempts: number;
  readonly requests: number;
  readonly recoveries: number;
  readonly audits: number;
}

const REST_MS = 125_000;

export async function play(day: Day): Promise<Played> {
  const world = new World(day);
  const { kernel, known } = world;
  const player = new Player(world, day.bias);
  const length = kernel.between(day.bias === 'freezes' ? 50_000 : 15_000, 75_000);
  for (let at = 1_000; at < length; at += kernel.between(150, 2_000)) kernel.after(at, () => player.act());
  for (let n = 0; n < 2; n += 1)
    kernel.after(kernel.between(5_000, length), () => void world.commands.audit('while it works'));
  await kernel.runFor(length);
  heal(world);
  await kernel.runFor(REST_MS);
  void world.commands.audit('at rest');
  await kernel.runFor(20_000);
  if (known.audits < 3) known.violated('I7', 'an audit does not end');
  checkAtRest(world);
  if (known.violations.length === 0) await putBack(world, player);
  const { violations, attempts, recoveries, audits } = known;
  const counts = { attempts: attempts.length, requests: world.requests().length, recoveries: recoveries.size, audits };
  return { violations, trace: kernel.trace, ...counts };
}

function heal(world: World): void {
  world.kernel.say('---- everything heals');
  world.isHealing = true;
  world.thaw();
  for (const one of world.processes) world.start(one);
  for (const { view } of world.apis) view.isHealed = true;
}

async function putBack(world: World, player: Player): Promise<void> {
  const { kernel, known } = world;
  const givenUp = [...known.rows().all].filter(([, { fold }]) => fold.givenUp && fold.last.outcome !== 'delivered');
  for (const id of world.webhookIds) if (world.account.webhook(id)?.isActive === false) world.switch(id, true);
  world.isAllOk = true;
  await kernel.runFor(10_000);
  kernel.say('---- what was given up is put back');
  const by = kernel.chance(0.6) ? 'replay' : 'recovery';
  if (by === 'replay') await replayTwice(world);
  else player.recoverAll();
  await kernel.runFor(REST_MS);
  for (const [key, { fold }] of givenUp) {
    const isThere = world.account.webhook(fold.last.webhookId) !== undefined;
    const isDelivered = known.attempts.some((attempt) => attempt.key === key && attempt.end === 'delivered');
    if (isThere && !isDelivered) known.violated('I2', `given up, and not sent by the last ${by}: ${key}`);
  }
}

/** The first is interrupted. */
async function replayTwice(world: World): Promise<void> {
  const { kernel } = world;
  const interrupt = world.commands.replay();
  kernel.after(kernel.between(100, 1_000), interrupt);
  await kernel.runFor(15_000);
  world.commands.replay();
  await kernel.runFor(15_000);
}

class Player {
  readonly #world: World;
  readonly #bias: Day['bias'];
  #payments = 0;
  #recoveries = 0;

  constructor(world: World, bias: Day['bias']) {
    [this.#world, this.#bias] = [world, bias];
  }

  /** Each with its share of 100. */
  readonly #actions: readonly (readonly [share: number, () => void])[] = [
    [22, () => this.#payment()],
    [18, () => this.#resend()],
    [10, () => this.#cancel()],
    [9, () => this.#switch()],
    [6, () => this.#switchOn()],
    [2, () => this.#switchOff()],
    [1, () => this.#remove()],
    [8, () => this.#recover()],
    [2, () => this.#stopRecovery()],
    [6, () => this.#replay()],
    [6, () => this.#world.kill(this.#anyone())],
    [5, () => this.#world.freeze(this.#anyone(), this.#world.kernel.between(200, 10_000))],
    [3, () => this.#world.rebalance()],
    [2, () => this.#world.kernel.pick(this.#world.apis).view.discard()],
  ];

  act(): void {
    let drawn = this.#world.kernel.between(0, 99);
    for (const [share, action] of this.#actions) {
      drawn -= share;
      if (drawn < 0) return void action();
    }
  }

  #anyone(): Process {
    return this.#world.kernel.pick(this.#world.processes);
  }

  #api() {
    const { apis, kernel } = this.#world;
    const ready = apis.filter(({ isAlive, isFrozen }) => isAlive && !isFrozen);
    return ready.length > 0 ? kernel.pick(ready) : null;
  }

  #payment(): void {
    for (let left = this.#bias === 'freezes' ? 3 : 1; left > 0; left -= 1) this.#publish();
  }

  #publish(): void {
    const { kernel } = this.#world;
    this.#payments += 1;
    const id = `pay-${this.#payments}`;
    this.#world.publish(id);
    if (kernel.chance(0.3)) kernel.after(kernel.between(0, 15_000), () => this.#world.publish(id));
  }

  #resend(): void {
    const api = this.#api();
    if (this.#bias === 'freezes') return void this.#recover();
    if (!api) return;
    for (let left = this.#world.kernel.between(1, 3); left > 0; left -= 1) void api.resend();
    this.#mayPause();
  }

  /** What was requested is consumed meanwhile. */
  #mayPause(): void {
    const { kernel, webhookIds, account } = this.#world;
    if (this.#bias !== 'pauses' || kernel.chance(0.5)) return;
    const active = webhookIds.filter((id) => account.webhook(id)?.isActive);
    for (const id of active) {
      kernel.after(kernel.between(0, 100), () => account.webhook(id) && this.#world.switch(id, false));
      kernel.after(kernel.between(200, 4_000), () => account.webhook(id) && this.#world.switch(id, true));
    }
  }

  #cancel(): void {
    const { kernel, dispatchers } = this.#world;
    const api = this.#api();
    const isBiased = this.#bias === 'kills' && kernel.chance(0.7);
    if (!api?.cancel(({ outcome }) => !isBiased || outcome === 'retrying') || !isBiased) return;
    kernel.after(kernel.between(50, 600), () => {
      const downMs = kernel.between(2_000, 7_500);
      for (const one of dispatchers) this.#world.kill(one, downMs);
    });
  }

  #switch(): void {
    const id = this.#world.kernel.pick(this.#world.webhookIds);
    const webhook = this.#world.account.webhook(id);
    if (webhook) this.#world.switch(id, !webhook.isActive);
  }

  #switchOn(): void {
    const id = this.#world.kernel.pick(this.#world.webhookIds);
    if (this.#world.account.webhook(id)?.isActive === false) this.#world.switch(id, true);
  }

  #switchOff(): void {
    const id = this.#world.kernel.pick(this.#world.webhookIds);
    if (this.#world.account.webhook(id)) this.#world.switchOff(id);
  }

  #remove(): void {
    const { kernel, webhookIds } = this.#world;
    if (kernel.chance(0.5))
      this.#world.give({ type: 'RemoveWebhook', webhookId: kernel.pick(webhookIds), at: this.#world.at() });
  }

  #recover(): void {
    const { kernel, webhookIds, known } = this.#world;
    const isFreezing = this.#bias === 'freezes';
    const some = webhookIds.filter(() => isFreezing || kernel.chance(0.6));
    const givenUp = () =>
      known
        .rows()
        .details()
        .filter(({ outcome }) => outcome === 'exhausted').length;
    if (some.length > 0 && (!isFreezing || givenUp() > 3)) this.#start(some);
  }

  recoverAll(): void {
    const { kernel, webhookIds, account } = this.#world;
    this.#start(
      webhookIds.filter((id) => account.webhook(id)),
      20,
    );
    const { owner } = this.#world.groups.recoveries;
    if (owner && kernel.chance(0.5)) kernel.after(kernel.between(500, 3_000), () => this.#world.kill(owner));
  }

  #start(webhookIds: readonly number[], perSecond = this.#world.kernel.between(1, 5)): void {
    this.#recoveries += 1;
    const recovery = `recovery-${this.#recoveries}`;
    this.#world.recover(recovery, webhookIds, perSecond);
    if (this.#bias === 'freezes') this.#freezeRunner(recovery, 50);
  }

  /** Once it has begun. */
  #freezeRunner(recovery: string, looks: number): void {
    const { kernel, known } = this.#world;
    const asked = known.asked.find((one) => one.recovery === recovery);
    if (asked) {
      for (const { view } of this.#world.apis.filter((one) => one === asked.by)) view.isSlow = true;
      this.#world.freeze(asked.by, kernel.between(3_500, 10_000));
    } else if (looks > 0) kernel.after(200, () => this.#freezeRunner(recovery, looks - 1));
  }

  #stopRecovery(): void {
    const running = this.#world.account.state().recoveries.find(({ state }) => state === 'running');
    if (running) this.#world.give({ type: 'StopRecovery', recoveryId: running.id, at: this.#world.at() });
  }

  #replay(): void {
    const { kernel } = this.#world;
    if (this.#world.commands.isReplaying) return;
    const interrupt = this.#world.commands.replay();
    this.#mayPause();
    if (kernel.chance(0.5)) kernel.after(kernel.between(50, 2_000), interrupt);
  }
}
