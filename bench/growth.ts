/**
 * make bench-growth: what a service costs as its work grows, as tables and plots. Each axis is written into
 * docs/benchmarks.md and docs/plots/ when it was measured to its end. BENCH_GROWTH (growth/sizes.ts) makes them small.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { payload, urls } from './growth/delivering.js';
import type { Growing, Grown } from './growth/grown.js';
import { storeSize } from './growth/store-size.js';
import { DOCUMENT, writePart } from './support/document.js';
import { linePlot } from './support/line-plot.js';
import { machine } from './support/machine.js';
import { simpleTable } from './support/simple-table.js';
import { ONLY, SECONDS } from './support/sizes.js';

const ALL: readonly Growing[] = [...storeSize, urls, payload];

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const chosen = ONLY.length > 0 ? ALL.filter(({ name }) => ONLY.includes(name)) : ALL;
const written = Boolean(process.env.BENCH_DOCUMENT) || (process.env.BENCH_GROWTH || '1') === '1';
for (const growing of chosen) {
  console.log(`== ${growing.name}`);
  const grown = await growing.run((line) => console.log(`   ${line}`));
  console.log(simpleTable(grown.head, grown.rows));
  if (written) write(growing.name, grown);
}
if (!written) console.log('Not written to docs/benchmarks.md: that takes BENCH_GROWTH=1.');
process.exit(0);

function write(name: string, { head, rows, plots }: Grown): void {
  const folder = join(dirname(DOCUMENT), 'plots');
  mkdirSync(folder, { recursive: true });
  const images = plots.map(({ file, ...plot }) => {
    writeFileSync(join(folder, `${file}.svg`), linePlot(plot));
    return `![${plot.title}, by ${plot.x.label}](plots/${file}.svg)`;
  });
  const how = `Written by \`make bench-growth\`, ${SECONDS} s for each figure that is a rate or a time of the API. ${machine()}`;
  writePart(`growth ${name}`, [how, simpleTable(head, rows), ...images].join('\n\n'));
}
