/** kill -9 at random, 50 times, under load: the fault suite counts it (test/faults/random-kills.test.ts). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../support/folders.js';
import type { Outcome, Row, Tell } from '../support/row.js';

const KILLS = process.env.FAULT_KILLS || '50';
const JEST = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

export const kills: Row = {
  name: 'kills',
  title: `kill -9 at random, ${KILLS} times, under load: event x URL pairs lost`,
  figure: { kind: 'exactly', value: 0, unit: 'lost' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const counts = join(newFolder(), 'counts');
  writeFileSync(counts, '');
  const env = { ...process.env, FAULT_KILLS: KILLS, FAULT_COUNTS: counts, KAFKA_BROKERS: '127.0.0.1:1' };
  // The embedded default; the fault suite does it on EventStoreDB and Kafka as well.
  const child = spawn(process.execPath, [...JEST, 'test/faults/random-kills', '-t', '^SQLite'], {
    env,
    stdio: 'ignore',
  });
  tell(`${KILLS} kills take a minute or two`);
  const [code] = await once(child, 'exit');
  const row = /^\| (.+) \| (\d+) \| (\d+) \| (\d*) \|$/m.exec(readFileSync(counts, 'utf8'));
  if (!row) return { kind: 'not measured', why: `the test failed (${code}): see test/faults/random-kills` };
  const [, what, pairs, lost, twice] = row;
  return {
    kind: 'measured',
    values: [Number(lost)],
    sides: [],
    notes: [`${what}: ${pairs} pairs, sent twice ${twice}.`],
  };
}
