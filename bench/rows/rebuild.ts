/** The read model from nothing: a start of the service on a store with a history and no read model, until it is ready. */
import { join } from 'node:path';
import { remove } from '../support/folders.js';
import { amount } from '../support/format.js';
import { openInstallation } from '../support/installation.js';
import { eventsOf, type Population, populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { REBUILD_EVENTS } from '../support/sizes.js';
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
  const installation = await openInstallation();
  const { settings } = installation;
  try {
    await populate(settings, population, tell);
    const turn = async () => {
      forgetReadModel(settings.DATA_DIR ?? '');
      const { service, startingMs } = await started(settings);
      await service.stop('SIGTERM');
      return startingMs / 1_000;
    };
    const seconds = await eachRound(tell, turn, (each) => `${events} events in ${amount(each, 's')}`);
    return {
      kind: 'measured',
      values: seconds.map((each) => events / each),
      sides: [{ name: `${events.toLocaleString('en-US')} events`, unit: 's', values: seconds }],
      notes: ['From the first line of the start to the last; two projections are folded.'],
    };
  } finally {
    await installation.close();
  }
}

/** It is rebuilt from the history at the next start. */
function forgetReadModel(dataDir: string): void {
  for (const suffix of ['', '-wal', '-shm']) remove(join(dataDir, `read-model.sqlite${suffix}`));
}
