/** The read model from nothing, on the EventStoreDB of the tests: a start of the service, until it is ready. */
import { randomBytes } from 'node:crypto';
import { startEventStore } from '../../test/services/eventstoredb/event-store-server.js';
import { newFolder } from '../support/folders.js';
import { amount } from '../support/format.js';
import { forgetReadModel } from '../support/history.js';
import { eventsOf, type Population, populate } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { ROUNDS } from '../support/sizes.js';
import { started } from '../support/started.js';

const POPULATION: Population = {
  accounts: 5_000,
  // A thousand appends at once take a server longer than one may.
  wave: 50,
  urls: (accountId) => ['one', 'two', 'three'].map((name) => `https://hooks.example.com/${accountId}/${name}`),
  updates: 4,
};

export const catchUp: Row = {
  name: 'catch-up',
  title: 'Rebuild of the read model, EventStoreDB of the tests, events',
  /** Twice of what two subscriptions reached, measured by turns with this: decision 0007. */
  figure: { kind: 'at least', value: 14_800, unit: 'a second' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const events = eventsOf(POPULATION);
  const server = await startEventStore();
  const MASTER_KEY = randomBytes(32).toString('base64');
  const settings = { EVENT_STORE_URL: server.url, MASTER_KEY, DATA_DIR: newFolder() };
  const seconds: number[] = [];
  try {
    await populate(settings, POPULATION, tell);
    for (let round = 1; round <= ROUNDS; round += 1) {
      forgetReadModel(settings.DATA_DIR);
      const { service, startingMs } = await started(settings);
      await service.stop('SIGTERM');
      seconds.push(startingMs / 1_000);
      tell(`round ${round}: ${events} events in ${amount(startingMs / 1_000, 's')}`);
    }
  } finally {
    await server.stop();
  }
  return {
    kind: 'measured',
    values: seconds.map((each) => events / each),
    sides: [{ name: `${events.toLocaleString('en-US')} events`, unit: 's', values: seconds }],
    notes: [
      'From the first line of the start to the last. The server is a program in JavaScript, on the same cores, and gives less than a real one.',
    ],
  };
}
