/** A scenario: who comes, and what must hold of the figures. */
import { type Figures, World } from './world.js';

type Limit = { readonly below: number } | { readonly atLeast: number } | { readonly is: number };

/** By the name of a figure. Other figures are only told. */
export type Limits = Readonly<Record<string, Limit>>;

export interface Scenario {
  readonly name: string;
  /** What attempts cost is played too. */
  readonly hasCpu?: boolean;
  readonly limits: Limits;
  /** @returns figures besides those that the world tells by itself */
  plays(world: World): Promise<Figures>;
}

export interface Verdict {
  readonly name: string;
  readonly figures: Figures;
  /** The limits that do not hold, in words. */
  readonly broken: readonly string[];
}

/** p99 in ms of first attempts of the healthy accounts, none of which is deferred. */
export function unharmed(limits: Readonly<Record<string, number>>): Limits {
  const pairs = Object.entries(limits).flatMap(([name, ms]): [string, Limit][] => [
    [`${name} p99`, { below: ms }],
    [`${name} deferred`, { is: 0 }],
  ]);
  return Object.fromEntries(pairs);
}

export async function judge(scenario: Scenario, seed: number): Promise<Verdict> {
  const { name, hasCpu = false, limits } = scenario;
  const world = new World({ seed, hasCpu });
  const more = await scenario.plays(world);
  const figures = { ...world.figures(), ...more };
  const broken = Object.entries(limits).flatMap(([figure, limit]) => {
    const value = figures[figure] ?? Number.NaN;
    return holds(limit, value) ? [] : [`${figure}: ${rounded(value)}, not ${inWords(limit)}`];
  });
  return { name, figures, broken };
}

function rounded(value: number): string {
  return String(Math.abs(value) < 10 ? Number(value.toPrecision(3)) : Math.round(value));
}

function holds(limit: Limit, value: number): boolean {
  if ('below' in limit) return value < limit.below;
  return 'is' in limit ? value === limit.is : value >= limit.atLeast;
}

function inWords(limit: Limit): string {
  if ('below' in limit) return `below ${limit.below}`;
  return 'is' in limit ? `${limit.is}` : `at least ${limit.atLeast}`;
}
