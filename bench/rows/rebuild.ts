/** The read model from nothing: a start of the service on a store with a history and no read model, until it is ready. */
import { join } from 'node:path';
import { type Service, startServing } from '../../test/support/clients/service.js';
import { remove } from '../support/folders.js';
import { amount } from '../support/format.js';
import { endsWithUs, openInstallation, profiling } from '../support/installation.js';
import { eventsOf, type Population, populate } from '../support/population.js';
import { eachRound } from '../support/rounds.js';
import type { Outcome, Row, Tell } from '../support/row.js';
import { REBUILD_EVENTS } from '../support/sizes.js';

/** Ten million events are folded first. */
const READY_WITHIN_MS = 20 * 60_000;
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
      const starting = await startServing({ ...settings, ...profiling() }, [], READY_WITHIN_MS);
      endsWithUs(starting);
      // Its log costs it nothing. Asked for its health every 2 ms, it caught up with 50,000 events in 2.73 s instead of 2.48.
      const service = await starting.ready;
      await service.stop('SIGTERM');
      return (timeOf(service, 'ready') - timeOf(service, 'starting')) / 1_000;
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

/** When it said so, ms since the epoch. */
function timeOf(service: Service, message: string): number {
  const lines = service.log().split('\n');
  const line = lines.find((entry) => entry.includes(`"msg":"${message}"`));
  return Date.parse((JSON.parse(line ?? '{}') as { time: string }).time);
}
