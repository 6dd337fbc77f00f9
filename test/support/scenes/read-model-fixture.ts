import { join } from 'node:path';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import { type Accounts, createAccounts, createCommandAccounts } from '../../../src/read-model/accounts.js';
import { ProjectionHost } from '../../../src/read-model/projection-host.js';
import { combined, loadProjection, PROJECTIONS } from '../../../src/read-model/projection-source.js';
import { StoreLookups } from '../../../src/read-model/store-lookups.js';
import type { CommandAccounts } from '../../../src/webhooks/command-deps.js';
import type { AccountState } from '../../../src/webhooks/state.js';
import { silentLogger } from './silent-logger.js';

export interface ReadModel {
  readonly accounts: Accounts;
  readonly commandAccounts: CommandAccounts;
  readonly host: ProjectionHost<AccountState>;
  close(): Promise<void>;
}

let models = 0;

/** All projections over a store, caught up: each call is another process, with a file of its own below the folder. */
export async function startReadModel(store: EventStore, dataDir: string, time = Date.now): Promise<ReadModel> {
  models += 1;
  const states = openProjectionStates(join(dataDir, `process-${models}`), () => undefined);
  const clocks = { now: () => performance.now(), time };
  const projection = combined(PROJECTIONS.map(loadProjection));
  const host = new ProjectionHost<AccountState>({ store, states, logger: silentLogger, projection, ...clocks });
  host.start('a history');
  await host.caughtUp;
  const close = async () => {
    await host.close();
    states.close();
  };
  return {
    accounts: createAccounts(
      host.known,
      new StoreLookups(
        () => performance.now(),
        (signal) => host.passHead(signal),
      ),
    ),
    commandAccounts: createCommandAccounts(host.known),
    host,
    close,
  };
}
