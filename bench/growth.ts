/**
 * make bench-growth: what a service costs as its work grows, as tables and plots; written into docs/benchmarks.md and
 * docs/plots/ when all of it was measured to its end. BENCH_GROWTH (growth/sizes.ts) makes it small.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { payload, urls } from './growth/delivering.js';
import type { Growing, Grown } from './growth/grown.js';
import { standing } from './growth/standing.js';
import { DOCUMENT, writePart } from './support/document.js';
import { linePlot } from './support/line-plot.js';
import { machine } from './support/machine.js';
import { simpleTable } from './support/simple-table.js';
import { ONLY, SECONDS } from './support/sizes.js';

const ALL: readonly Growing[] = [...standing, urls, payload];

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const chosen = ONLY.length > 0 ? ALL.filter(({ name }) => ONLY.includes(name)) : ALL;
const isWhole = chosen.length === ALL.length && (process.env.BENCH_GROWTH || '1') === '1';
const written = Boolean(process.env.BENCH_DOCUMENT) || isWhole;
const parts: string[] = [];
for (const growing of chosen) {
  console.log(`== ${growing.name}`);
  const grown = await growing.run((line) => console.log(`   ${line}`));
  console.log(simpleTable(grown.head, grown.rows));
  parts.push(part(grown));
}
if (written) {
  const how = `Written by \`make bench-growth\`, ${SECONDS} s for each figure that is a rate or a time of the API.`;
  writePart('growth', [`${how} ${machine()}`, ...parts].join('\n\n'));
} else console.log('Not written to docs/benchmarks.md: that takes all of it.');
process.exit(0);

function part({ head, rows, plots }: Grown): string {
  const folder = join(dirname(DOCUMENT), 'plots');
  if (written) mkdirSync(folder, { recursive: true });
  const images = plots.map(({ file, ...plot }) => {
    if (written) writeFileSync(join(folder, `${file}.svg`), linePlot(plot));
    return `![${plot.title}, by ${plot.x.label}](plots/${file}.svg)`;
  });
  return [simpleTable(head, rows), ...images].join('\n\n');
}
