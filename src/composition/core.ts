/** What both roles stand on: store, broker, keys, and the read model. */
import { randomUUID } from 'node:crypto';
import { openProjectionStates } from '../adapters/sqlite/projection-states.js';
import { type Backbone, openBackbone } from '../backbone.js';
import type { Config } from '../config.js';
import { fairLookup } from '../endpoints/fair-lookup.js';
import { type LookupAll, lookupAll } from '../endpoints/resolve.js';
import type { Logger } from '../observability/logger.js';
import type { Metrics } from '../observability/metrics.js';
import type { Readiness } from '../observability/readiness.js';
import type { Tracing } from '../observability/tracing.js';
import { type AccountCredentials, type Accounts, createAccounts } from '../read-model/accounts.js';
import { ProjectionHost, type ProjectionStanding } from '../read-model/projection-host.js';
import { loadProjection } from '../read-model/projection-source.js';
import { sealedValues } from '../read-model/sealed-values.js';
import { createCommandHandler, type HandleCommand } from '../webhooks/handle-command.js';
import type { AccountWebhooks } from '../webhooks/state.js';
import { checkKeys } from './check-keys.js';
import { startRetention } from './retention.js';
import { type BrokerContact, watchedBackbone } from './watched-backbone.js';

export type Stop = () => Promise<void> | void;

export interface Start {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly readiness: Readiness;
  /** Rejected with StartAborted where nobody waits for the start any more. */
  readonly givenUp: Promise<never>;
}

/** What both roles stand on. */
export interface Core extends Start {
  readonly backbone: Backbone;
  readonly brokerContact: BrokerContact;
  readonly accounts: Accounts;
  readonly handleCommand: HandleCommand;
  /** Rejected where the read model can't go on. */
  readonly lost: Promise<never>;
  /** One for registration and connections: they share what resolves names. */
  readonly lookup: LookupAll;
}

/** Opens the backbone and folds the read model up to where the store stands now. @throws InvalidConfig */
export async function startCore(start: Start, stops: Stop[]): Promise<Core> {
  const { config, logger, metrics, tracing, readiness, givenUp } = start;
  const brokerContact: BrokerContact = { why: null };
  const backbone = watchedBackbone(await openBackbone(config, logger), metrics.store, brokerContact);
  stops.push(() => backbone.close());
  const sweeper = startRetention(config, backbone, logger);
  stops.push(() => sweeper?.stop());
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
  watchProjections(start, { 'account-webhooks': webhooks, 'account-credentials': credentials });
  for (const host of [webhooks, credentials]) {
    host.start();
    stops.push(() => host.close());
  }
  const lost = Promise.race([webhooks.lost, credentials.lost]);
  // Whoever uses the app hears of it; where the start fails on something else nobody does.
  lost.catch(() => undefined);
  await Promise.race([Promise.all([webhooks.caughtUp, credentials.caughtUp]), lost, givenUp]);
  checkKeys(sealedValues(webhooks, credentials, Date.now()), backbone.sealing);
  readiness.part('keys', () => null);
  const accounts = createAccounts(webhooks, credentials);
  const handleCommand = createCommandHandler({
    store: backbone.store,
    accounts,
    passed: async (stream, revision, withinMs) => {
      const storedAt = performance.now();
      const passed = await webhooks.passed(stream, revision, withinMs);
      metrics.store.folded(performance.now() - storedAt);
      return passed;
    },
    newEventId: randomUUID,
    tracing,
  });
  return { ...start, backbone, brokerContact, accounts, handleCommand, lost, lookup: fairLookup(lookupAll) };
}

function watchProjections(
  { metrics, readiness }: Start,
  hosts: Readonly<Record<string, { readonly standing: ProjectionStanding }>>,
): void {
  for (const [name, host] of Object.entries(hosts)) metrics.watch.projection(name, () => host.standing);
  const first = (...kinds: readonly ProjectionStanding['kind'][]) => {
    const standings = Object.entries(hosts).map(([name, { standing }]) => ({ name, standing }));
    return standings.find(({ standing }) => kinds.includes(standing.kind));
  };
  readiness.part('event store', () => first('starting', 'out-of-reach')?.standing.why ?? null);
  readiness.part('read model', () => {
    const behind = first('starting', 'out-of-reach', 'catching-up');
    return behind ? `${behind.name} is not up to date: ${behind.standing.why}` : null;
  });
}
