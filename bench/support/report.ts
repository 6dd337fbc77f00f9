/** The table, as Markdown: read in a terminal as well. */
import { figureText, measured, spread } from './format.js';
import { holds, type Outcome, type Row } from './row.js';
import { summary } from './statistics.js';

interface Measured {
  readonly row: Row;
  readonly outcome: Outcome;
}

const HEAD = ['what', 'figure', 'median', 'spread', 'holds'];

/** Below the table, what each row was made of. */
export function table(all: readonly Measured[]): string {
  const cells = [HEAD, HEAD.map(() => '---'), ...all.map(cellsOf)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const details = all.flatMap(detailsOf).map((line) => `- ${line}`);
  return [...lines, ...(details.length > 0 ? ['', ...details] : [])].join('\n');
}

function cellsOf({ row, outcome }: Measured): string[] {
  const head = [row.title, figureText(row.figure)];
  if (outcome.kind === 'not measured') return [...head, 'not measured', '', ''];
  const { unit } = row.figure;
  const all = summary(outcome.values);
  const median = measured([all.median], unit);
  return [...head, median, spread(all, unit), holds(row.figure, all.median) ? 'yes' : 'NO'];
}

function detailsOf({ row, outcome }: Measured): string[] {
  if (outcome.kind === 'not measured') return [`\`${row.name}\` was not measured: ${outcome.why}.`];
  const sides = outcome.sides.map(({ name, unit, values }) => `${name} ${measured(values, unit)}`);
  const said = [...(sides.length > 0 ? [`${sides.join('; ')}.`] : []), ...outcome.notes];
  return said.length > 0 ? [`\`${row.name}\`: ${said.join(' ')}`] : [];
}
