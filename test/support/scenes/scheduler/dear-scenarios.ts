/** Beside receivers that cost the process CPU. */
import { answers, DEAR_CPU_MS } from './manners.js';
import { type Scenario, unharmed } from './scenario.js';
import { type Answer, type Manner, SECOND } from './simulation.js';

const UNTIL = 20 * SECOND;
const LIMITS = unharmed({ well10: 250, well150: 500 });

interface Dear {
  readonly accounts: number;
  readonly perSecond: number;
  readonly manner: Manner;
}

function dear(name: string, others: Dear, limits = LIMITS): Scenario {
  return {
    name: `${others.accounts} accounts ${name}, ${others.perSecond}/s (c)`,
    hasCpu: true,
    limits,
    plays: async (world) => {
      world.healthy(UNTIL);
      world.many({ ...others, until: UNTIL, manner: () => others.manner, isSpread: true });
      await world.goOn(UNTIL + 20 * SECOND);
    },
  };
}

const costing = (signal: Answer['signal']) => answers(10, { signal, cpuMs: DEAR_CPU_MS });

export const DEAR_SCENARIOS: readonly Scenario[] = [
  dear('cost 20 ms of CPU an attempt, 2xx', { accounts: 20, perSecond: 2, manner: costing('succeeded') }),
  dear(
    'cost 20 ms of CPU an attempt, failing',
    { accounts: 20, perSecond: 2, manner: costing('failed') },
    unharmed({ well10: 250 }),
  ),
  dear('cost 20 ms of CPU an attempt, 2xx', { accounts: 200, perSecond: 2, manner: costing('succeeded') }),
  dear('whose receivers close each connection', { accounts: 20, perSecond: 20, manner: answers(10, { closes: true }) }),
];
