/** All scenarios of the judge, and the few of make test. */
import { DEAR_SCENARIOS } from './dear-scenarios.js';
import { HEALTHY_SCENARIOS, LARGE_HEALTHY_SCENARIOS, start } from './healthy-scenarios.js';
import {
  HARMLESS,
  HOSTILE_SCENARIOS,
  hostile,
  NEARLY_HARMLESS,
  NEARLY_HARMLESS_WITH_CPU,
} from './hostile-scenarios.js';
import { OWN_SCENARIOS } from './own-scenarios.js';
import type { Scenario } from './scenario.js';
import { resets, SLOW_SCENARIOS, slow } from './slow-scenarios.js';

export const SCENARIOS: readonly Scenario[] = [
  ...HOSTILE_SCENARIOS,
  ...SLOW_SCENARIOS,
  ...DEAR_SCENARIOS,
  ...OWN_SCENARIOS,
  ...HEALTHY_SCENARIOS,
  ...LARGE_HEALTHY_SCENARIOS,
];

/** 100 hostile accounts, and a start. */
export const FEW_SCENARIOS: readonly Scenario[] = [
  hostile({ accounts: 100, limits: HARMLESS }),
  hostile({ accounts: 100, isAtOnce: true, limits: NEARLY_HARMLESS }),
  hostile({ accounts: 100, hasCpu: true, limits: NEARLY_HARMLESS_WITH_CPU }),
  slow({ accounts: 100, urls: 1, ms: 900, perSecond: 20 }),
  resets({ accounts: 100, hangs: 1, hangMs: 990 }),
  start(300),
];
