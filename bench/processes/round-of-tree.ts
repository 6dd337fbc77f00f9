/** One round of a row, as the tree in the working directory measures it: its own rows, formats and build. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Outcome, Row } from '../support/row.js';

const [name] = process.argv.slice(2);
process.once('disconnect', () => process.exit(1));
const { ROWS } = (await import(pathToFileURL(resolve('bench/rows.ts')).href)) as { ROWS: readonly Row[] };
const row = ROWS.find((one) => one.name === name);
const outcome: Outcome = row
  ? await row.run((line) => console.log(`      ${line}`))
  : { kind: 'not measured', why: 'this commit has no such row' };
process.send?.(outcome, () => process.exit());
