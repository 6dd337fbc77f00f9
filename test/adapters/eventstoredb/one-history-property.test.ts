/**
 * Restarts, kills, cuts, rebuilds and restores in random order, on a 23.10 and a 25, quiet or busy. The process never waits
 * for a confirmation, never refuses its own store, and never takes a restored one that lacks an event it knows for the same.
 */

import { SEED } from '../../runner/seed.js';
import { inFull } from '../../runner/thorough.js';
import { SERVER_VERSIONS } from '../../services/eventstoredb/own-server.js';
import { json, type StoredData } from '../../services/eventstoredb/stored-data.js';
import { eventually } from '../../support/clocks/eventually.js';
import { type Seeded, seeded } from '../../support/generators/seeded.js';
import { Installation } from '../../support/scenes/eventstoredb-installation.js';

const RUNS = inFull(2, 2, 5);
const STEPS = 40;
const ACCOUNTS = 4;
/** Once the read model has caught up. */
const CONFIRMED_WITHIN_MS = 5_000;
const PATIENCE = { timeout: 20_000 };

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

interface World {
  readonly service: Installation;
  readonly random: Seeded;
  backup: StoredData;
}

const account = ({ random }: World) => 1 + random.below(ACCOUNTS);
const foreign = ({ service, random }: World, data = service.data) =>
  data.append('other-1', [json('Foreign', JSON.stringify('x'.repeat(random.below(400))))]);

/** A store as it was, or one that has gone on without us. @returns whether the process knows an event that it lacks */
async function restore(world: World, kept: StoredData): Promise<boolean> {
  const { service, random } = world;
  const data = kept.copy();
  for (let grown = random.below(3); grown > 0; grown -= 1) {
    foreign(world, data);
    if (random.below(2) === 0) service.appendElsewhere(account(world), data);
  }
  const lacks = service.known.some((id) => data.byId(id) === undefined);
  await service.restartServer('kill', data);
  return lacks;
}

/** Afterwards the operator accepts the store. */
async function mustRefuse(world: World): Promise<void> {
  await eventually(() => world.service.refused, { ...PATIENCE, message: 'a restored store was taken for the same' });
  await world.service.accept();
}

const STEP: Record<string, (world: World) => unknown> = {
  'a command': (world) => world.service.append(account(world)),
  'a command elsewhere': (world) => world.service.appendElsewhere(account(world)),
  'a foreign record': (world) => foreign(world),
  'a backup': (world) => {
    world.backup = world.service.data.copy();
  },
  'a kill of the server': ({ service }) => service.restartServer('kill'),
  'a restart of the server': ({ service }) => service.restartServer('stop'),
  'a cut connection': ({ service }) => service.faults.dropSubscriptions(),
  'a subscription that falls behind': (world) => {
    world.service.faults.fallBehind();
    world.service.appendElsewhere(account(world));
    foreign(world);
  },
  'a restart of the process': async ({ service }) => {
    await service.stopProcess();
    await service.startProcess();
  },
  'an ordered restart of both': async ({ service }) => {
    await service.stopProcess();
    await service.restartServer('stop');
    await service.startProcess();
  },
  'a rebuilt read model': ({ service }) => service.rebuild(),
  'a restore of the backup': async (world) => {
    if (await restore(world, world.backup)) await mustRefuse(world);
  },
  'a restore that loses a command as it is acknowledged': async (world) => {
    const before = world.service.data.copy();
    await world.service.append(account(world));
    if (await restore(world, before)) await mustRefuse(world);
  },
  'a restore while the process is stopped': async (world) => {
    await world.service.stopProcess();
    const data = world.backup.copy();
    await world.service.restartServer('kill', data);
    await world.service.startProcess();
    if (world.service.known.some((id) => data.byId(id) === undefined)) await mustRefuse(world);
  },
};

async function run(world: World): Promise<void> {
  const names = Object.keys(STEP);
  const done: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const name = names[world.random.below(names.length)] ?? '';
    done.push(name);
    try {
      const { host } = world.service;
      // Under way while it happens.
      const asked = world.service.confirmed();
      asked.catch(() => undefined);
      await STEP[name]?.(world);
      await world.service.confirm(CONFIRMED_WITHIN_MS);
      if (world.service.host === host) await asked;
      expect(world.service.refused).toBeNull();
    } catch (error) {
      throw new Error(`seed ${world.random.seed}, after ${done.slice(-6).join('; ')}: ${error}`, { cause: error });
    }
  }
}

describe.each(SERVER_VERSIONS)('%s', (version) => {
  test.each([
    ['none', false],
    ['another event', true],
  ])('a restore is noticed that has %s in the place of an event known from its append alone', async (_, isTaken) => {
    const service = await Installation.start(version);
    ending.push(() => service.end());
    await service.append(1);
    await service.passHead();
    const restored = service.data.copy();
    service.faults.silent('subscribe');
    await service.append(1);
    if (isTaken) service.appendElsewhere(1, restored);
    await service.restartServer('kill', restored);
    await eventually(() => service.refused, PATIENCE);
  });

  test.each(['quiet', 'busy'])('on a %s store', async (load) => {
    for (let times = 0; times < RUNS; times += 1) {
      const random = seeded(SEED + times);
      const service = await Installation.start(version);
      ending.push(() => service.end());
      const world = { service, random, backup: service.data.copy() };
      const writer = load === 'busy' ? setInterval(() => foreign(world), 2) : undefined;
      ending.push(() => clearInterval(writer));
      await run(world);
    }
  });
});
