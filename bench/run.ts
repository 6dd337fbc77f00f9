/**
 * make bench: measures the rows one after the other, prints the table, and writes it into docs/benchmarks.md when all rows
 * were measured in full. The settings of a smaller run are in support/sizes.ts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { chosenRows, ROWS } from './rows.js';
import { isOnDisk } from './support/folders.js';
import { machine } from './support/machine.js';
import { table } from './support/report.js';
import { holds, type Outcome, type Row } from './support/row.js';
import { MUST_HOLD, ONLY, ROUNDS, SECONDS } from './support/sizes.js';
import { summary } from './support/statistics.js';

const FULL_ROUNDS = 5;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (!isOnDisk()) console.error('BENCH_FOLDER is in memory: figures of what is durable mean nothing there.');
const rows = chosenRows(ONLY);
const outcomes: { row: Row; outcome: Outcome }[] = [];
for (const row of rows) {
  console.log(`== ${row.name}: ${row.title}`);
  const outcome = await row.run((line) => console.log(`   ${line}`)).catch(failed);
  outcomes.push({ row, outcome });
  console.log(table([{ row, outcome }]));
}
const text = `${machine()}\n\n${table(outcomes)}`;
console.log(`\n${text}`);
const isFull = rows.length === ROWS.length && ROUNDS >= FULL_ROUNDS && !process.exitCode;
if (isFull)
  writeInto('docs/benchmarks.md', `Written by \`make bench\`, ${ROUNDS} rounds of ${SECONDS} s each.\n\n${text}`);
else console.log('Not written to docs/benchmarks.md: that takes all rows, and five rounds or more.');
if (MUST_HOLD && !outcomes.every(isMet)) process.exitCode = 1;
process.exit();

function isMet({ row, outcome }: (typeof outcomes)[number]): boolean {
  return outcome.kind === 'measured' && holds(row.figure, summary(outcome.values).median);
}

/** The others are measured all the same. */
function failed(error: Error): Outcome {
  console.error(error);
  process.exitCode = 1;
  return { kind: 'not measured', why: `it failed: ${error.message.split('\n')[0]}` };
}

/** Between the marks; the rest of the document is written by hand. */
function writeInto(document: string, part: string): void {
  const marked = /(?<=<!-- bench -->\n)[\s\S]*(?=\n<!-- \/bench -->)/;
  writeFileSync(
    document,
    readFileSync(document, 'utf8').replace(marked, () => part),
  );
}
