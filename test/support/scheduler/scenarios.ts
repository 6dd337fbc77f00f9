/** All scenarios of the judge, and the few of make test. */
import { DEAR_SCENARIOS } from './dear-scenarios.js';
import { beside400, beside400AtOnce, beside400WithCpu, HOSTILE_SCENARIOS } from './hostile-scenarios.js';
import { OWN_SCENARIOS } from './own-scenarios.js';
import type { Scenario } from './scenario.js';
import { resets, SLOW_SCENARIOS, slow } from './slow-scenarios.js';

export const SCENARIOS: readonly Scenario[] = [
  ...HOSTILE_SCENARIOS,
  ...SLOW_SCENARIOS,
  ...DEAR_SCENARIOS,
  ...OWN_SCENARIOS,
];

/** 100 accounts each. */
export const FEW_SCENARIOS: readonly Scenario[] = [
  beside400(100),
  beside400AtOnce(100),
  beside400WithCpu(100),
  slow({ accounts: 100, urls: 1, ms: 900, perSecond: 20 }),
  resets({ accounts: 100, hangs: 1, hangMs: 990 }),
];

export const SEEDS: readonly number[] = [1, 2, 3, 4, 5];
