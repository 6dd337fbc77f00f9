/** The rounds of a row, and rows that are figures of the same rounds. */
import type { Figure, Outcome, Row, Tell } from './row.js';
import { ROUNDS } from './sizes.js';

/** One after the other. */
export async function eachRound<T>(
  tell: Tell,
  turn: (round: number) => Promise<T> | T,
  said: (one: T) => string,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const one = await turn(round);
    all.push(one);
    tell(`round ${round}: ${said(one)}`);
  }
  return all;
}

type About<T> = (seen: readonly T[]) => Partial<Pick<Extract<Outcome, { kind: 'measured' }>, 'sides' | 'notes'>>;
export type SharedRow<T> = readonly [name: string, title: string, figure: Figure, value: (seen: T) => number];

/** Whichever is asked for first has the rounds measured. */
export function sharedRows<T>(
  measure: (tell: Tell) => Promise<readonly T[]>,
  rows: readonly SharedRow<T>[],
  about: About<T> = () => ({}),
): readonly Row[] {
  let measured: Promise<readonly T[]> | null = null;
  return rows.map(([name, title, figure, value]) => ({
    name,
    title,
    figure,
    async run(tell) {
      measured ??= measure(tell);
      const seen = await measured;
      return { kind: 'measured', values: seen.map(value), sides: [], notes: [], ...about(seen) };
    },
  }));
}
