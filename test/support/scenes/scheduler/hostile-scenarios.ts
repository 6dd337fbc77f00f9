/** Beside hostile accounts of eight kinds, with 5 to 100 payments each. */
import { answers, HOSTILE, KEEPING } from './manners.js';
import { type Limits, type Scenario, unharmed } from './scenario.js';
import { type Manner, MINUTE, SECOND } from './simulation.js';
import { endpointsOf, type World } from './world.js';

const UNTIL = MINUTE;
const NEWCOMER: Limits = { 'newcomer first': { below: SECOND }, 'newcomer p99': { below: 250 } };
const LATER_NEWCOMER: Limits = { 'newcomer first': { below: 2 * SECOND } };

export const HARMLESS: Limits = { ...unharmed({ well10: 50, well150: 400 }), ...NEWCOMER };
export const NEARLY_HARMLESS: Limits = { ...unharmed({ well10: 100, well150: 500 }), ...LATER_NEWCOMER };
const WITH_CPU = unharmed({ well10: 250, well150: 500 });
export const NEARLY_HARMLESS_WITH_CPU: Limits = { ...WITH_CPU, ...LATER_NEWCOMER };

interface Hostile {
  readonly accounts: number;
  readonly limits: Limits;
  /** Their payments all come within 100 ms. */
  readonly isAtOnce?: boolean;
  readonly hasCpu?: boolean;
  readonly manners?: readonly Manner[];
}

/** As the row of bench/ plays it: payments come within a minute, from a topic, and a deferral costs what it costs. */
const AS_MEASURED: Scenario = {
  name: '400 hostile accounts, payments within a minute, from a topic (c)',
  hasCpu: true,
  deferralMs: 0.1,
  hasTopic: true,
  limits: NEARLY_HARMLESS_WITH_CPU,
  plays: async (world) => {
    world.healthy(UNTIL);
    world.hostile(400, HOSTILE, UNTIL);
    world.newcomer(UNTIL);
    await world.goOn(UNTIL + 20 * SECOND);
  },
};

export function hostile(played: Hostile): Scenario {
  const { accounts, limits, isAtOnce = false, hasCpu = false, manners = HOSTILE } = played;
  const kept = manners === KEEPING ? ' that keep their connections' : '';
  return {
    name: `${accounts} hostile accounts${kept}${isAtOnce ? ', all at once' : ''}${hasCpu ? ' (c)' : ''}`,
    hasCpu,
    limits,
    plays: async (world) => {
      world.healthy(UNTIL);
      world.hostile(accounts, manners, isAtOnce ? 100 : undefined);
      world.newcomer(UNTIL);
      await world.goOn(UNTIL + 20 * SECOND);
    },
  };
}

export const HOSTILE_SCENARIOS: readonly Scenario[] = [
  hostile({ accounts: 400, limits: HARMLESS }),
  hostile({ accounts: 1_200, limits: NEARLY_HARMLESS }),
  hostile({ accounts: 400, isAtOnce: true, limits: NEARLY_HARMLESS }),
  hostile({ accounts: 1_200, isAtOnce: true, limits: NEARLY_HARMLESS }),
  hostile({ accounts: 400, hasCpu: true, limits: NEARLY_HARMLESS_WITH_CPU }),
  hostile({ accounts: 1_200, hasCpu: true, limits: WITH_CPU }),
  AS_MEASURED,
  // What they ask for is cheap, and more than the thread gives: 191 to 254 ms with five seeds.
  hostile({
    accounts: 400,
    hasCpu: true,
    manners: KEEPING,
    limits: { ...unharmed({ well10: 300, well150: 500 }), ...LATER_NEWCOMER },
  }),
  {
    name: 'a burst of 1000 beside 400 hostile accounts',
    limits: { ...unharmed({ well10: 50 }), ...inOrder('burst'), 'burst p100': { below: SECOND } },
    plays: async (world) => {
      world.hostile(400, HOSTILE);
      world.steady('well10', { id: 1, manner: answers(10), until: 3 * SECOND });
      burst(world, { at: 4 * SECOND, count: 1_000 });
      await world.goOn(40 * SECOND);
    },
  },
  {
    name: 'a receiver of 900 ms beside 400 hostile accounts, 5/s',
    // It needs 14 slow attempts at once, and its share is less until the others' queues are empty: 2 s, with one seed of four 7.
    limits: { 'well900 p99': { below: 10 * SECOND } },
    plays: async (world) => {
      world.hostile(400, HOSTILE);
      world.steady('well900', { id: 1, manner: answers(900), until: UNTIL, everyMs: 200 });
      await world.goOn(UNTIL + 30 * SECOND);
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
