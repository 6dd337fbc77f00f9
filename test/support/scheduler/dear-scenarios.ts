/** Beside receivers that cost the process CPU. */
import { answers, DEAR_CPU_MS } from './manners.js';
import { type Scenario, unharmed } from './scenario.js';
import { type Answer, type Manner, SECOND } from './simulation.js';

const UNTIL = 20 * SECOND;

interface Dear {
  readonly name: string;
  readonly accounts: number;
  readonly perSecond: number;
  readonly manner: Manner;
  readonly limits: Scenario['limits'];
}

function dear({ name, accounts, perSecond, manner, limits }: Dear): Scenario {
  return {
    name,
    hasCpu: true,
    limits,
    plays: async (world) => {
      world.healthy(UNTIL);
      world.many({ accounts, perSecond, until: UNTIL, manner: () => manner, isSpread: true });
      await world.goOn(UNTIL + 20 * SECOND);
      return { 'others attempted/s': world.others.attempts / (UNTIL / SECOND + 20) };
    },
  };
}

const costing = (signal: Answer['signal']) => answers(10, { signal, cpuMs: DEAR_CPU_MS });

export const DEAR_SCENARIOS: readonly Scenario[] = [
  dear({
    name: '20 accounts cost 20 ms of CPU an attempt, 2/s, 2xx (c)',
    accounts: 20,
    perSecond: 2,
    manner: costing('succeeded'),
    limits: unharmed({ well10: 250, well150: 500 }),
  }),
  dear({
    name: '20 accounts cost 20 ms of CPU an attempt, 2/s, failing (c)',
    accounts: 20,
    perSecond: 2,
    manner: costing('failed'),
    limits: unharmed({ well10: 250 }),
  }),
  dear({
    name: '200 accounts cost 20 ms of CPU an attempt, 2/s, 2xx (c)',
    accounts: 200,
    perSecond: 2,
    manner: costing('succeeded'),
    limits: unharmed({ well10: 250, well150: 500 }),
  }),
  dear({
    name: '20 accounts whose receivers close each connection, 20/s (c)',
    accounts: 20,
    perSecond: 20,
    manner: answers(10, { closes: true }),
    limits: unharmed({ well10: 250, well150: 500 }),
  }),
];
