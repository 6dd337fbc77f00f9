/** projections verify, as a command: both projections of every account, on the EventStoreDB of the tests. */
import { randomBytes } from 'node:crypto';
import { startEventStore } from '../../test/services/eventstoredb/event-store-server.js';
import { run as runCommand, type Settings } from '../../test/support/service.js';
import { newFolder } from '../support/folders.js';
import { amount } from '../support/format.js';
import { type Population, populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS } from '../support/sizes.js';

const ACCOUNTS = 3_000;
const POPULATION: Population = {
  accounts: ACCOUNTS,
  // A thousand appends at once take a server longer than one may.
  wave: 50,
  urls: (accountId) => ['one', 'two'].map((name) => `https://hooks.example.com/${accountId}/${name}`),
};

export const verify: Row = {
  name: 'verify',
  title: `projections verify, ${ACCOUNTS.toLocaleString('en-US')} accounts, accounts`,
  figure: { kind: 'at least', value: 500, unit: 'a second' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const server = await startEventStore();
  const MASTER_KEY = randomBytes(32).toString('base64');
  const settings = { EVENT_STORE_URL: server.url, MASTER_KEY, DATA_DIR: newFolder() };
  const seconds: number[] = [];
  try {
    await populate(settings, POPULATION, tell);
    await projections(settings, 'deploy');
    for (let round = 1; round <= ROUNDS; round += 1) {
      seconds.push(await projections(settings, 'verify'));
      tell(`round ${round}: ${amount(seconds.at(-1) ?? 0, 's')}`);
    }
  } finally {
    await server.stop();
  }
  return {
    kind: 'measured',
    values: seconds.map((each) => ACCOUNTS / each),
    sides: [{ name: 'the command', unit: 's', values: seconds }],
    notes: [
      'From the start of the command to its end; the server is the one of the tests, in another process on the same cores.',
    ],
  };
}

/** @returns s */
async function projections(settings: Settings, command: string): Promise<number> {
  const begin = performance.now();
  const { code, stderr } = await runCommand(settings, ['projections', command]);
  if (code !== 0) throw new Error(`projections ${command}: ${stderr}`);
  return (performance.now() - begin) / 1_000;
}
