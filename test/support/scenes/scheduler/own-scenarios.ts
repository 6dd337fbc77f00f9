/** What an account gets where nobody else is to blame. */
import { burst, inOrder } from './hostile-scenarios.js';
import { AWAY, answers, failingOneOf, IN_MAINTENANCE, meanwhile, taking } from './manners.js';
import { type Scenario, unharmed } from './scenario.js';
import { MINUTE, SECOND } from './simulation.js';
import { endpointsOf } from './world.js';

const UNTIL = 30 * SECOND;
const MOST_URLS = 21;
const MOST_IN_FLIGHT = MOST_URLS * 16;

/** More than they take. */
function flood(ms: number): Scenario {
  const until = 20 * SECOND;
  /** Windows open first. */
  const from = 10 * SECOND;
  // A millisecond brings 21 at most.
  const ideal = Math.min((MOST_IN_FLIGHT * SECOND) / ms, MOST_URLS * SECOND);
  const everyMs = (MOST_URLS * SECOND) / Math.min(1.2 * ideal, MOST_URLS * SECOND);
  return {
    name: `${MOST_URLS} URLs of ${ms} ms, more than they take`,
    limits: { 'of ideal': { atLeast: 0.95 } },
    plays: async (world) => {
      world.steady('flood', { id: 1, manner: answers(ms), until, everyMs, urls: MOST_URLS });
      await world.goOn(from);
      const before = world.group('flood').delivered;
      await world.goOn(until - from);
      const perSecond = (world.group('flood').delivered - before) / ((until - from) / SECOND);
      world.note('of ideal', perSecond / ideal);
    },
  };
}

interface Taken {
  readonly count: number;
  readonly withinMs: number;
  readonly retryAfterMs?: number;
}

function takes10({ count, withinMs, retryAfterMs }: Taken): Scenario {
  return {
    name: `takes 10/s, then answers 429${retryAfterMs ? ' with Retry-After: 1' : ''}: ${count} at once`,
    limits: { 'paced undelivered': { is: 0 }, 'paced out of order': { is: 0 }, 'paced refusals/s': { below: 2.01 } },
    plays: async (world) => {
      for (const each of endpointsOf(1, 1, () => taking(10, retryAfterMs)))
        for (let n = 0; n < count; n += 1) world.send(1, each, world.group('paced'));
      await world.goOn(withinMs);
    },
  };
}

export const OWN_SCENARIOS: readonly Scenario[] = [
  {
    name: 'one account at 100 times the rate of others',
    limits: unharmed({ well10: 50, well150: 400 }),
    plays: async (world) => {
      const until = 10 * SECOND;
      world.healthy(until);
      world.steady('loud', { id: 5, manner: answers(10), until, everyMs: 0.5 });
      await world.goOn(until + 20 * SECOND);
    },
  },
  {
    name: 'a burst of 1000 to one healthy URL',
    limits: { ...inOrder('burst'), 'burst p100': { below: SECOND } },
    plays: async (world) => {
      burst(world, { at: 1, count: 1_000 });
      await world.goOn(UNTIL);
    },
  },
  {
    name: 'a burst of 5000 to one healthy URL',
    limits: { 'burst p100': { below: 20 * SECOND } },
    plays: async (world) => {
      burst(world, { at: 1, count: 5_000 });
      await world.goOn(MINUTE);
    },
  },
  ...[10, 100, 300, 900].map(flood),
  {
    name: 'one of three URLs hangs',
    limits: unharmed({ well10: 50 }),
    plays: async (world) => {
      const [hanging] = endpointsOf(1, 3, () => answers(15 * SECOND, { signal: 'failed' })).slice(2);
      world.steady('well10', { id: 1, manner: answers(10), until: MINUTE, urls: 2 });
      for (let at = 0; at < MINUTE; at += 50) if (hanging) world.send(at, hanging, world.others);
      await world.goOn(MINUTE + 20 * SECOND);
    },
  },
  {
    // 16 at once take 18 a second.
    name: 'a receiver of 900 ms gets 20/s, alone',
    limits: unharmed({ well900: 8 * SECOND }),
    plays: async (world) => {
      world.steady('well900', { id: 1, manner: answers(900), until: UNTIL });
      await world.goOn(UNTIL + 30 * SECOND);
    },
  },
  {
    name: 'a URL that fails 1 of 10, 20/s',
    limits: unharmed({ well10: 50 }),
    plays: async (world) => {
      world.steady('well10', { id: 1, manner: failingOneOf(10), until: UNTIL });
      await world.goOn(UNTIL + 30 * SECOND);
    },
  },
  takes10({ count: 200, withinMs: 30 * SECOND }),
  takes10({ count: 1_000, withinMs: 130 * SECOND }),
  takes10({ count: 200, withinMs: 30 * SECOND, retryAfterMs: SECOND }),
  takes10({ count: 1_000, withinMs: 130 * SECOND, retryAfterMs: SECOND }),
  {
    name: 'away for 2 min with 500 waiting, then well',
    limits: { 'last after its return': { below: 30 * SECOND } },
    plays: async (world) => {
      const [from, until] = [MINUTE, 3 * MINUTE];
      const manner = meanwhile(from, until, AWAY);
      world.steady('back', { id: 1, manner, until, everyMs: (until - from) / 500, urls: 1 });
      await world.goOn(until + 5 * MINUTE);
      // What failed while it was away has its schedule.
      world.note('last after its return', world.group('back').lastEndedAt - until);
    },
  },
  {
    name: '503 with Retry-After: 60 for 3 min, 4/s',
    // Its queue takes what it took in 120 s: the rest waits for the end of the pause in a tier.
    limits: { 'last after its return': { below: 90 * SECOND }, 'back refusals': { below: 20 } },
    plays: async (world) => {
      const [from, until] = [MINUTE, 4 * MINUTE];
      const manner = meanwhile(from, until, IN_MAINTENANCE);
      world.steady('back', { id: 1, manner, until, everyMs: 250, urls: 1 });
      await world.goOn(until + 5 * MINUTE);
      world.note('last after its return', world.group('back').lastEndedAt - until);
    },
  },
];
