/** The read model from nothing: a start of the service on a store with a history and no read model, until it is ready. */
import { amount } from '../support/format.js';
import { forgetReadModel, history } from '../support/history.js';
import { openInstallation } from '../support/installation.js';
import { eventsOf, type Population } from '../support/population.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { REBUILD_EVENTS, ROUNDS } from '../support/sizes.js';
import { started } from '../support/started.js';

/** Registered with three events, three webhooks added, four times updated. */
const EVENTS_AN_ACCOUNT = 10;

export const rebuild: Row = {
  name: 'rebuild',
  title: 'Rebuild of the read model, SQLite store, events',
  figure: { kind: 'at least', value: 80_000, unit: 'a second' },
  run,
};

async function run(tell: Tell): Promise<Outcome> {
  const population: Population = {
    accounts: Math.ceil(REBUILD_EVENTS / EVENTS_AN_ACCOUNT),
    urls: (accountId) => ['one', 'two', 'three'].map((name) => `https://hooks.example.com/${accountId}/${name}`),
    updates: 4,
  };
  const events = eventsOf(population);
  const dataDir = await history(`events-${events}`, population, tell);
  const installation = await openInstallation({ dataDir });
  const seconds: number[] = [];
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      forgetReadModel(dataDir);
      const { service, startingMs } = await started(installation.settings);
      await service.stop('SIGTERM');
      seconds.push(startingMs / 1_000);
      tell(`round ${round}: ${events} events in ${amount(startingMs / 1_000, 's')}`);
    }
  } finally {
    await installation.close();
  }
  return {
    kind: 'measured',
    values: seconds.map((each) => events / each),
    sides: [{ name: `${events.toLocaleString('en-US')} events`, unit: 's', values: seconds }],
    notes: ['From the first line of the start to the last; two projections are folded.'],
  };
}
