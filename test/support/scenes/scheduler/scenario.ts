/** A scenario: who comes, and what must hold of the figures. */
import { World } from './world.js';

type Limit = { readonly below: number } | { readonly atLeast: number } | { readonly is: number };

/** By the name of a figure. */
export type Limits = Readonly<Record<string, Limit>>;

export interface Scenario {
  readonly name: string;
  /** What attempts cost is played too. */
  readonly hasCpu?: boolean;
  /** What a deferral costs, in a scenario with CPU. */
  readonly deferralMs?: number;
  /** Payments come from a topic, with backpressure. */
  readonly hasTopic?: boolean;
  readonly limits: Limits;
  plays(world: World): Promise<void>;
}

/** p99 in ms of first attempts of the healthy accounts, none of which is deferred. */
export function unharmed(limits: Readonly<Record<string, number>>): Limits {
  const pairs = Object.entries(limits).flatMap(([name, ms]): [string, Limit][] => [
    [`${name} p99`, { below: ms }],
    [`${name} deferred`, { is: 0 }],
  ]);
  return Object.fromEntries(pairs);
}

/** @returns the limits that do not hold, in words */
export async function judge(scenario: Scenario, seed: number): Promise<string[]> {
  const { hasCpu = false, deferralMs = 0, hasTopic = false, limits, plays } = scenario;
  const world = new World({ seed, hasCpu, deferralMs, hasTopic });
  await plays(world);
  const { figures } = world;
  return Object.entries(limits).flatMap(([figure, limit]) => {
    const value = figures[figure] ?? Number.NaN;
    return holds(limit, value) ? [] : [`${figure} is ${value}, limit ${JSON.stringify(limit)}`];
  });
}

function holds(limit: Limit, value: number): boolean {
  if ('below' in limit) return value < limit.below;
  return 'is' in limit ? value === limit.is : value >= limit.atLeast;
}
