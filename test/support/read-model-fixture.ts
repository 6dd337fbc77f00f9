import { openProjectionStates } from '../../src/adapters/sqlite/projection-states.js';
import type { EventStore } from '../../src/ports/event-store.js';
import { type AccountCredentials, type Accounts, createAccounts } from '../../src/read-model/accounts.js';
import { ProjectionHost } from '../../src/read-model/projection-host.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { AccountWebhooks } from '../../src/webhooks/state.js';
import { silentLogger } from './silent-logger.js';

export interface ReadModel {
  readonly accounts: Accounts;
  readonly webhooks: ProjectionHost<AccountWebhooks>;
  close(): Promise<void>;
}

/** Both projections over a store, caught up; a second one on the same folder has a file of its own. */
export async function startReadModel(store: EventStore, dataDir: string): Promise<ReadModel> {
  const states = openProjectionStates(dataDir, () => undefined);
  const parts = { store, states, logger: silentLogger, now: () => performance.now() };
  const webhooks = new ProjectionHost<AccountWebhooks>({ ...parts, projection: loadProjection('account-webhooks') });
  const credentials = new ProjectionHost<AccountCredentials>({
    ...parts,
    projection: loadProjection('account-credentials'),
  });
  webhooks.start();
  credentials.start();
  await Promise.all([webhooks.caughtUp, credentials.caughtUp]);
  const close = async () => {
    await Promise.all([webhooks.close(), credentials.close()]);
    states.close();
  };
  return { accounts: createAccounts(webhooks, credentials), webhooks, close };
}
