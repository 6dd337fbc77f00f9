/** Beside receivers that are slow, or slow at times. */
import { answers, pulsing, resetting } from './manners.js';
import { type Scenario, unharmed } from './scenario.js';
import { SECOND } from './simulation.js';
import { endpointsOf } from './world.js';

const LIMITS = unharmed({ well10: 100, well150: 500 });
const SETTLES_MS = 20 * SECOND;

interface Slow {
  readonly accounts: number;
  readonly urls: number;
  readonly ms: number;
  readonly perSecond: number;
}

export function slow({ accounts, urls, ms, perSecond }: Slow): Scenario {
  const until = 20 * SECOND;
  return {
    name: `${accounts} x ${urls} URLs of ${ms} ms, ${perSecond}/s`,
    limits: LIMITS,
    plays: async (world) => {
      world.healthy(until);
      world.many({ accounts, urls, perSecond, until, manner: () => answers(ms), isSpread: true });
      world.newcomer(until);
      await world.goOn(until + SETTLES_MS);
    },
  };
}

interface Pulsing {
  readonly accounts: number;
  /** One URL of each account gets a payment so often. */
  readonly everyMs: number;
  readonly hangMs: number;
  readonly ends: 'succeeded' | 'failed';
}

/** As many URLs as an account may have active: 336 attempts at once. */
const MOST_URLS = 21;

function pulses({ accounts, everyMs, hangMs, ends }: Pulsing): Scenario {
  const until = 12 * SECOND;
  return {
    name: `pulsing: ${accounts} x ${MOST_URLS} URLs hang for ${hangMs} ms and have ${ends}`,
    limits: LIMITS,
    plays: async (world) => {
      world.healthy(until);
      for (let id = 1_000; id < 1_000 + accounts; id += 1) {
        const endpoints = endpointsOf(id, MOST_URLS, () => pulsing(hangMs, ends));
        for (let at = 0; at < until; at += everyMs) {
          const endpoint = endpoints[(at / everyMs) % MOST_URLS];
          if (endpoint) world.send(at, endpoint, world.others);
        }
      }
      await world.goOn(until + SETTLES_MS);
    },
  };
}

interface Resetting {
  readonly accounts: number;
  readonly hangs: number;
  readonly hangMs: number;
}

export function resets({ accounts, hangs, hangMs }: Resetting): Scenario {
  const until = 20 * SECOND;
  return {
    name: `reset: ${accounts} accounts at 2/s, ${hangs} hangs of ${hangMs} ms`,
    limits: LIMITS,
    plays: async (world) => {
      world.healthy(until, 3 * SECOND);
      const manner = () => resetting(hangs, hangMs);
      world.many({ accounts, perSecond: 2, from: 2 * SECOND, until, manner, warmUp: 30 });
      await world.goOn(until + SETTLES_MS);
    },
  };
}

export const SLOW_SCENARIOS: readonly Scenario[] = [
  slow({ accounts: 150, urls: 1, ms: 900, perSecond: 20 }),
  slow({ accounts: 100, urls: 3, ms: 950, perSecond: 30 }),
  pulses({ accounts: 1, everyMs: 1, hangMs: 990, ends: 'succeeded' }),
  pulses({ accounts: 4, everyMs: 5, hangMs: 990, ends: 'succeeded' }),
  pulses({ accounts: 10, everyMs: 10, hangMs: 990, ends: 'succeeded' }),
  pulses({ accounts: 10, everyMs: 10, hangMs: 99, ends: 'succeeded' }),
  pulses({ accounts: 1, everyMs: 1, hangMs: 15_000, ends: 'failed' }),
  pulses({ accounts: 10, everyMs: 10, hangMs: 15_000, ends: 'failed' }),
  resets({ accounts: 60, hangs: 1, hangMs: 990 }),
  resets({ accounts: 100, hangs: 1, hangMs: 990 }),
  resets({ accounts: 200, hangs: 1, hangMs: 990 }),
  resets({ accounts: 100, hangs: 5, hangMs: 990 }),
  resets({ accounts: 200, hangs: 5, hangMs: 990 }),
  resets({ accounts: 200, hangs: 3, hangMs: 99 }),
  resets({ accounts: 200, hangs: 3, hangMs: 249 }),
];
