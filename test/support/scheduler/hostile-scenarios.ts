/** Beside hostile accounts of eight kinds, with 5 to 100 payments each. */
import { answers, HOSTILE } from './manners.js';
import { type Limits, type Scenario, unharmed } from './scenario.js';
import { MINUTE, SECOND } from './simulation.js';
import { endpointsOf, type World } from './world.js';

const UNTIL = MINUTE;
const NEWCOMER: Limits = { 'newcomer first': { below: SECOND }, 'newcomer p99': { below: 250 } };
const LATER_NEWCOMER: Limits = { 'newcomer first': { below: 2 * SECOND } };

interface Hostile {
  readonly accounts: number;
  /** All come within that time. */
  readonly spreadMs?: number;
}

function hostile({ accounts, spreadMs }: Hostile): Scenario['plays'] {
  return async (world) => {
    world.healthy(UNTIL);
    world.hostile({ accounts, manners: HOSTILE, ...(spreadMs ? { spreadMs } : {}) });
    world.newcomer(UNTIL);
    await world.goOn(UNTIL + 20 * SECOND);
    return firstOfNewcomer(world);
  };
}

export function firstOfNewcomer(world: World) {
  return { 'newcomer first': Math.max(...world.group('newcomer').times.slice(0, 3)) };
}

export function beside400(accounts: number): Scenario {
  const limits = { ...unharmed({ well10: 50, well150: 400 }), ...NEWCOMER };
  return { name: `${accounts} hostile accounts`, limits, plays: hostile({ accounts }) };
}

export function beside400AtOnce(accounts: number): Scenario {
  const limits = { ...unharmed({ well10: 100, well150: 500 }), ...LATER_NEWCOMER };
  return { name: `${accounts} hostile accounts, all at once`, limits, plays: hostile({ accounts, spreadMs: 100 }) };
}

export function beside400WithCpu(accounts: number): Scenario {
  const limits = { ...unharmed({ well10: 250, well150: 500 }), ...LATER_NEWCOMER };
  return { name: `${accounts} hostile accounts (c)`, hasCpu: true, limits, plays: hostile({ accounts }) };
}

const BESIDE_1200 = { ...unharmed({ well10: 100, well150: 500 }), ...LATER_NEWCOMER };

export const HOSTILE_SCENARIOS: readonly Scenario[] = [
  beside400(400),
  { name: '1200 hostile accounts', limits: BESIDE_1200, plays: hostile({ accounts: 1_200 }) },
  beside400AtOnce(400),
  {
    name: '1200 hostile accounts, all at once',
    limits: BESIDE_1200,
    plays: hostile({ accounts: 1_200, spreadMs: 100 }),
  },
  beside400WithCpu(400),
  {
    name: '1200 hostile accounts (c)',
    hasCpu: true,
    limits: unharmed({ well10: 250, well150: 500 }),
    plays: hostile({ accounts: 1_200 }),
  },
  {
    name: 'a burst of 1000 beside 400 hostile accounts',
    limits: { ...unharmed({ well10: 50 }), ...inOrder('burst'), 'burst p100': { below: SECOND } },
    plays: async (world) => {
      world.hostile({ accounts: 400, manners: HOSTILE });
      world.steady('well10', { id: 1, manner: answers(10), until: 3 * SECOND });
      burst(world, { at: 4 * SECOND, count: 1_000 });
      await world.goOn(40 * SECOND);
      return outOfOrder(world, 'burst');
    },
  },
  {
    name: 'a receiver of 900 ms beside 400 hostile accounts, 5/s',
    // It needs 14 slow attempts at once, and its share is less until the others' queues are empty: 2 s, with one seed of four 7.
    limits: { 'well900 p99': { below: 10 * SECOND } },
    plays: async (world) => {
      world.hostile({ accounts: 400, manners: HOSTILE });
      world.steady('well900', { id: 1, manner: answers(900), until: UNTIL, everyMs: 200 });
      await world.goOn(UNTIL + 30 * SECOND);
      return {};
    },
  },
];

/** To one healthy URL. */
export function burst(world: World, { at, count }: { readonly at: number; readonly count: number }): void {
  for (const endpoint of endpointsOf(1, 1, () => answers(10)))
    for (let n = 0; n < count; n += 1) world.send(at, endpoint, world.group('burst'));
}

export function inOrder(name: string): Limits {
  return { [`${name} out of order`]: { is: 0 }, [`${name} deferred`]: { is: 0 } };
}

export function outOfOrder(world: World, name: string) {
  return { [`${name} out of order`]: world.group(name).outOfOrder };
}
