/** Two commits, round by round, as a row of the table: above 1 this tree is the better one. */
import type { Outcome, Row, Side } from './row.js';

/** One outcome a round, with one value each. */
export interface Compared {
  readonly row: Row;
  readonly here: readonly Outcome[];
  readonly there: readonly Outcome[];
}

/** Worse by a tenth. */
const HOLDS = 0.9;

export function comparison({ row, here, there }: Compared, commit: string): { row: Row; outcome: Outcome } {
  const compared: Row = { ...row, figure: { kind: 'at least', value: HOLDS, unit: 'ratio' } };
  const failed = [...here, ...there].find((outcome) => outcome.kind === 'not measured');
  if (failed) return { row: compared, outcome: failed };
  const sides = { here: sidesOf(row, here, 'this tree'), there: sidesOf(row, there, commit) };
  const theirs = sides.there[0]?.values ?? [];
  const values = (sides.here[0]?.values ?? []).map((ours, round) => {
    const quotient = ours / (theirs[round] ?? Number.NaN);
    return ['below', 'at most'].includes(row.figure.kind) ? 1 / quotient : quotient;
  });
  return { row: compared, outcome: { kind: 'measured', values, sides: [...sides.here, ...sides.there], notes: [] } };
}

/** The figure itself, and what it was made of where it is a ratio. */
function sidesOf({ figure }: Row, outcomes: readonly Outcome[], tree: string): Side[] {
  const measured = outcomes.filter((outcome) => outcome.kind === 'measured');
  const parts = figure.unit === 'ratio' ? (measured[0]?.sides ?? []) : [];
  const valuesOf = (name: string) =>
    measured.flatMap(({ sides }) => sides.find((side) => side.name === name)?.values ?? []);
  return [
    { name: tree, unit: figure.unit, values: measured.flatMap(({ values }) => values) },
    ...parts.map(({ name, unit }) => ({ name: `${tree}, ${name}`, unit, values: valuesOf(name) })),
  ];
}
