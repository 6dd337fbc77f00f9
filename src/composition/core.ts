/** What both roles stand on: store, broker, keys, and the read model. */
import { randomUUID } from 'node:crypto';
import { openProjectionStates } from '../adapters/sqlite/projection-states.js';
import { type Backbone, openBackbone } from '../backbone.js';
import type { Config } from '../config.js';
import { fairLookup } from '../endpoints/fair-lookup.js';
import { type LookupAll, lookupAll } from '../endpoints/resolve.js';
import type { Logger } from '../observability/logger.js';
import { type AccountCredentials, type Accounts, createAccounts } from '../read-model/accounts.js';
import { ProjectionHost } from '../read-model/projection-host.js';
import { loadProjection } from '../read-model/projection-source.js';
import { sealedValues } from '../read-model/sealed-values.js';
import { createCommandHandler, type HandleCommand } from '../webhooks/handle-command.js';
import type { AccountWebhooks } from '../webhooks/state.js';
import { checkKeys } from './check-keys.js';

export type Stop = () => Promise<void> | void;

export interface Start {
  readonly config: Config;
  readonly logger: Logger;
  /** Rejected with StartAborted where nobody waits for the start any more. */
  readonly givenUp: Promise<never>;
}

/** What both roles stand on. */
export interface Core extends Start {
  readonly backbone: Backbone;
  readonly accounts: Accounts;
  readonly handleCommand: HandleCommand;
  /** Rejected where the read model can't go on. */
  readonly lost: Promise<never>;
  /** One for registration and connections: they share what resolves names. */
  readonly lookup: LookupAll;
}

/** Opens the backbone and folds the read model up to where the store stands now. @throws InvalidConfig */
export async function startCore({ config, logger, givenUp }: Start, stops: Stop[]): Promise<Core> {
  const backbone = await openBackbone(config, logger);
  stops.push(() => backbone.close());
  const states = openProjectionStates(config.dataDir, (file) =>
    logger.warn({ file }, 'the read model was damaged: it is thrown away and rebuilt'),
  );
  stops.push(() => states.close());
  const parts = { store: backbone.store, states, logger, now: () => performance.now() };
  const webhooks = new ProjectionHost<AccountWebhooks>({ ...parts, projection: loadProjection('account-webhooks') });
  const credentials = new ProjectionHost<AccountCredentials>({
    ...parts,
    projection: loadProjection('account-credentials'),
  });
  for (const host of [webhooks, credentials]) {
    host.start();
    stops.push(() => host.close());
  }
  const lost = Promise.race([webhooks.lost, credentials.lost]);
  // Whoever uses the app hears of it; where the start fails on something else nobody does.
  lost.catch(() => undefined);
  await Promise.race([Promise.all([webhooks.caughtUp, credentials.caughtUp]), lost, givenUp]);
  checkKeys(sealedValues(webhooks, credentials, Date.now()), backbone.sealing);
  const accounts = createAccounts(webhooks, credentials);
  const handleCommand = createCommandHandler({
    store: backbone.store,
    accounts,
    passed: (stream, revision, withinMs) => webhooks.passed(stream, revision, withinMs),
    newEventId: randomUUID,
  });
  return { config, logger, givenUp, backbone, accounts, handleCommand, lost, lookup: fairLookup(lookupAll) };
}
