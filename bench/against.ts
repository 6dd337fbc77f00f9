/**
 * make bench-against COMMIT=…: builds another commit beside this one, and measures rows of BENCH_ONLY on both by turns, each
 * with its own rows and formats. Machines differ threefold, so only a ratio of figures of one machine and hour says anything.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { chosenRows } from './rows.js';
import { type Compared, comparison } from './support/comparison.js';
import { treeOf } from './support/other-tree.js';
import { table } from './support/report.js';
import type { Outcome, Row } from './support/row.js';
import { ONLY, ROUNDS } from './support/sizes.js';

const PROCESS = fileURLToPath(new URL('./processes/round-of-tree.ts', import.meta.url));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const commit = process.env.COMMIT;
if (!commit || ONLY.length === 0) throw new Error('say which: make bench-against COMMIT=… BENCH_ONLY=pipeline,get');
const rows = chosenRows(ONLY);
const other = treeOf(commit);
const compared: Compared[] = [];
for (const row of rows) compared.push({ row, ...(await byTurns(row)) });
console.log(`\n${table(compared.map((one) => comparison(one, commit)))}`);
process.exit();

/** Whoever goes second finds other caches: each goes first in turn. */
async function byTurns(row: Row): Promise<Pick<Compared, 'here' | 'there'>> {
  const outcomes: { here: Outcome[]; there: Outcome[] } = { here: [], there: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const side of round % 2 === 0 ? (['here', 'there'] as const) : (['there', 'here'] as const)) {
      console.log(`== ${row.name}, round ${round + 1}, ${side === 'here' ? 'this tree' : commit}`);
      outcomes[side].push(await measure(row, side === 'here' ? process.cwd() : other));
    }
  }
  return outcomes;
}

async function measure({ name }: Row, tree: string): Promise<Outcome> {
  const child = fork(PROCESS, [name], { cwd: tree, env: { ...process.env, BENCH_ROUNDS: '1' } });
  const outcome = once(child, 'message').then(([message]) => message as Outcome);
  const ended = once(child, 'exit').then(([code]): Outcome => ({ kind: 'not measured', why: `it ended with ${code}` }));
  const first = await Promise.race([outcome, ended]);
  await ended;
  return first;
}
