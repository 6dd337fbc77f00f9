/** The composition root: builds the parts from a Config, starts them in order, and stops them in reverse. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createIssuerTokens, createOwnTokens, type OwnTokens, type VerifyToken } from './accounts/access-tokens.js';
import { openProjectionStates } from './adapters/sqlite/projection-states.js';
import { type Backbone, openBackbone } from './backbone.js';
import type { Config } from './config.js';
import { createAttempt } from './delivery/attempt.js';
import { createOpenConfiguration } from './delivery/configuration.js';
import { type Dispatcher, type DispatcherParts, startDispatcher } from './delivery/dispatcher.js';
import { EndpointGate, type GateLimits } from './delivery/endpoint-gate.js';
import { topicsOf } from './delivery/topics.js';
import { createEndpointAgent } from './endpoints/endpoint-agent.js';
import { parseEndpoint } from './endpoints/endpoint-url.js';
import { fairLookup } from './endpoints/fair-lookup.js';
import { createHostCheck } from './endpoints/host-check.js';
import { type LookupAll, lookupAll } from './endpoints/resolve.js';
import type { CheckedEndpoint } from './http/register-webhook.js';
import { createApi, listen, type RunningServer } from './http/server.js';
import { startAdminServer } from './observability/admin-server.js';
import type { Logger } from './observability/logger.js';
import { BrokerRefused, BrokerUnavailable } from './ports/broker.js';
import { type AccountCredentials, type Accounts, createAccounts } from './read-model/accounts.js';
import { ProjectionHost } from './read-model/projection-host.js';
import { loadProjection } from './read-model/projection-source.js';
import { certificatesFrom, clientCertificateFrom } from './setting-files.js';
import { createCommandHandler, type HandleCommand } from './webhooks/handle-command.js';
import type { AccountWebhooks } from './webhooks/state.js';
import { createWebhookIds } from './webhooks/webhook-ids.js';

export const ROLES = ['api', 'dispatcher'] as const;
export type Role = (typeof ROLES)[number];

const TRY_AGAIN_MS = 1_000;

const clock = { now: () => Date.now() };

export interface App {
  /** Null where the role is not run. */
  readonly apiPort: number | null;
  readonly adminPort: number;
  /** Rejected where the app can't go on: end the process, and let its supervisor start it again. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

type Stop = () => Promise<void> | void;

interface Start {
  readonly config: Config;
  readonly logger: Logger;
  /** Rejected with StartAborted where nobody waits for the start any more. */
  readonly givenUp: Promise<never>;
}

/** What both roles stand on. */
interface Core extends Start {
  readonly backbone: Backbone;
  readonly accounts: Accounts;
  readonly handleCommand: HandleCommand;
  /** Rejected where the read model can't go on. */
  readonly lost: Promise<never>;
  /** One for registration and connections: they share what resolves names. */
  readonly lookup: LookupAll;
}

/** The start was given up before it was complete. */
export class StartAborted extends Error {
  override readonly name = 'StartAborted';
  readonly code = 'START_ABORTED';
}

/**
 * A store or a broker that can't be reached is waited for; /health/ready says so meanwhile.
 * @param abort gives up waiting
 * @throws StartAborted; InvalidConfig for files that can't be read; StoreRefused and BrokerRefused; what listening throws
 */
export async function startApp(
  config: Config,
  roles: readonly Role[],
  logger: Logger,
  abort: AbortSignal = new AbortController().signal,
): Promise<App> {
  const stops: Stop[] = [];
  const waitingFor = new Set<string>(['the read model', ...roles]);
  const close = stopper(stops);
  try {
    const admin = await startAdminServer(config.host, config.adminPort, () => [...waitingFor]);
    stops.push(() => admin.close());
    const core = await startCore({ config, logger, givenUp: aborted(abort) }, stops);
    waitingFor.delete('the read model');
    const dispatcher = roles.includes('dispatcher') ? await startDispatching(core, stops) : null;
    waitingFor.delete('dispatcher');
    const api = roles.includes('api') ? await startListening(core, stops) : null;
    waitingFor.delete('api');
    stops.push(() => void waitingFor.add('nothing: it is stopping'));
    const ports = { apiPort: api?.port ?? null, adminPort: admin.port };
    logger.info({ roles, ...ports }, 'ready');
    const failed = dispatcher ? Promise.race([core.lost, onlyFailure(dispatcher.closed)]) : core.lost;
    return { ...ports, failed, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startCore({ config, logger, givenUp }: Start, stops: Stop[]): Promise<Core> {
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
  const accounts = createAccounts(webhooks, credentials);
  const handleCommand = createCommandHandler({
    store: backbone.store,
    accounts,
    passed: (stream, revision, withinMs) => webhooks.passed(stream, revision, withinMs),
    newEventId: randomUUID,
  });
  return { config, logger, givenUp, backbone, accounts, handleCommand, lost, lookup: fairLookup(lookupAll) };
}

async function startDispatching(core: Core, stops: Stop[]): Promise<Dispatcher> {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const { delivery } = config;
  const agent = createEndpointAgent({
    allowPrivate: delivery.allowPrivateEndpoints,
    connectTimeoutMs: delivery.timeoutMs,
    lookup: core.lookup,
    ...(delivery.caFile !== null && { ca: certificatesFrom('DELIVERY_CA_FILE', delivery.caFile) }),
    ...clientCertificateFrom(delivery.clientCertFile, delivery.clientKeyFile),
  });
  stops.push(() => agent.destroy());
  const parts: DispatcherParts = {
    broker: backbone.broker,
    group: delivery.group,
    topics: topicsOf(config.paymentTopics, config.topicPrefix),
    schedule: config.retrySchedule,
    accounts,
    configuration: createOpenConfiguration(accounts, backbone.sealing, clock.now),
    gate: new EndpointGate(gateLimits(delivery)),
    attempt: createAttempt({ agent, timeoutMs: delivery.timeoutMs, now: clock.now, userAgent: 'account-webhooks' }),
    handleCommand,
    logger,
    now: clock.now,
    random: Math.random,
  };
  const dispatcher = await untilAvailable(core, () => startDispatcher(parts));
  stops.push(() => dispatcher.close());
  return dispatcher;
}

/** Tries again while the broker can't be reached; other failures end the start. */
async function untilAvailable<T>({ logger, givenUp }: Start, start: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await Promise.race([start(), givenUp]);
    } catch (error) {
      if (!(error instanceof BrokerUnavailable) || error instanceof BrokerRefused) throw error;
      logger.warn({ err: error }, 'the broker is out of reach; trying again');
      await Promise.race([delay(TRY_AGAIN_MS), givenUp]);
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  const given = new Promise<never>((_, reject) => {
    const giveUp = () => reject(new StartAborted('the start was given up'));
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
  // After the start it is no failure.
  given.catch(() => undefined);
  return given;
}

function onlyFailure(closed: Promise<void>): Promise<never> {
  return closed.then(() => new Promise<never>(() => undefined));
}

function gateLimits({ concurrency: total, endpointConcurrency: perEndpoint }: Config['delivery']): GateLimits {
  return { total, perEndpoint, perAccount: Math.max(perEndpoint, Math.ceil(total / 4)) };
}

async function startListening(core: Core, stops: Stop[]): Promise<RunningServer> {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const api = createApi({
    ...tokens(config, backbone, logger),
    accounts,
    handleCommand,
    sealing: backbone.sealing,
    webhookIds: createWebhookIds(backbone.store, randomUUID),
    checkEndpoint: endpointCheck(config, core.lookup),
    now: () => new Date(clock.now()),
    logger,
    newRequestId: randomUUID,
  });
  const server = await listen(api, config.host, config.port);
  stops.push(() => server.close());
  return server;
}

function tokens(
  { auth }: Config,
  { masterKey }: Backbone,
  logger: Logger,
): { verifyToken: VerifyToken; ownTokens: OwnTokens | null } {
  const { issuer, audience, accountClaim, jwksUrl, tokenLifetimeMs: lifetimeMs } = auth;
  if (jwksUrl) {
    const verifyToken = createIssuerTokens({ jwksUrl, issuer, audience, accountClaim, clock, logger });
    return { verifyToken, ownTokens: null };
  }
  const key = masterKey.derive('access-tokens');
  const ownTokens = createOwnTokens({ issuer, audience, key, lifetimeMs, clock });
  return { verifyToken: ownTokens.verify, ownTokens };
}

function endpointCheck({ delivery }: Config, lookup: LookupAll): (url: string) => Promise<CheckedEndpoint> {
  const rules = { allowedPorts: delivery.allowedPorts, allowPrivate: delivery.allowPrivateEndpoints };
  const checkHost = createHostCheck({ allowPrivate: rules.allowPrivate, lookup });
  return async (url) => {
    const parsed = parseEndpoint(url, rules);
    if (!parsed.ok) return parsed;
    const host = await checkHost(parsed.host);
    return host.ok ? { ok: true, href: parsed.href } : host;
  };
}

/** Calling it again gives the first stop's end. A part that fails to stop does not keep the others from it. */
function stopper(stops: Stop[]): () => Promise<void> {
  let stopping: Promise<void> | null = null;
  const stopAll = async () => {
    const failures: unknown[] = [];
    for (let stop = stops.pop(); stop; stop = stops.pop()) {
      await Promise.resolve()
        .then(stop)
        .catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  };
  return () => {
    stopping ??= stopAll();
    return stopping;
  };
}
