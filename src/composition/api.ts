/** Assembles the API role from the settings. */
import { randomBytes, randomUUID } from 'node:crypto';
import { PUBLISHER_SCOPE } from '../accounts/access-tokens.js';
import { createChangeCredentials } from '../accounts/change-credentials.js';
import { IssuerKeys } from '../accounts/issuer-keys.js';
import { createIssuerTokens } from '../accounts/issuer-tokens.js';
import { createOwnTokens } from '../accounts/own-tokens.js';
import type { ViewFollower } from '../delivery/log/view-follower.js';
import { parseEndpoint } from '../endpoints/endpoint-url.js';
import { readConsoleFiles } from '../http/console.js';
import { loadCatalogue } from '../http/event-catalogue.js';
import { listen, type RunningServer } from '../http/listen.js';
import { createRateLimit, ReadLimit } from '../http/rate-limit.js';
import { type ApiParts, createApi } from '../http/server.js';
import { createDeliveryCounts, createHeldDeliveries } from '../http/webhooks/show-webhook.js';
import type { CheckedEndpoint } from '../http/webhooks/webhook-fields.js';
import { packageFile } from '../package-file.js';
import { createEndpointsOf } from '../read-model/removed-webhooks.js';
import { createFingerprints } from '../secrets/fingerprint.js';
import type { Config } from '../settings/config.js';
import { createKeyedCommandHandler } from '../webhooks/handle-command.js';
import { createWebhookIds } from '../webhooks/webhook-ids.js';
import { sendingAgain, testEvents } from './api-deliveries.js';
import type { Core, Stop } from './core.js';
import { shownCertificate } from './delivery-trust.js';
import { publishedPayloads } from './payloads.js';
import { version } from './version.js';

const clock = { now: () => Date.now() };
const now = () => new Date(clock.now());
const monotonic = () => performance.now();
/** Shorter than the server's drain, so clients still get the result of an interrupted test, and of events that wait. */
const WAITING_ENDS_AFTER_MS = 1_000;
/** Of an account. A test asks its receiver for more than a request asks of us: a handshake, and a slot. */
const TESTS_PER_MINUTE = 30;

export interface Listening {
  readonly view: ViewFollower;
  /** How far the dispatcher of this process is behind. */
  readonly behindMs: () => number;
}

export async function startListening(core: Core, stops: Stop[], { view, behindMs }: Listening): Promise<RunningServer> {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const stopping = new AbortController();
  const catalogue = loadCatalogue(config.eventSchemas);
  const deliveryCounts = createDeliveryCounts(view);
  const api = createApi({
    ...tokens(core, stops),
    catalogue,
    store: backbone.store,
    view,
    deactivateAfterMs: config.delivery.deactivateAfterMs,
    publicUrl: config.api.publicUrl,
    accounts,
    ...sendingAgain(core, view, stops),
    deliveryCounts,
    heldDeliveries: createHeldDeliveries(deliveryCounts),
    changeCredentials: createChangeCredentials(core.commands, accounts),
    randomBytes,
    payloads: publishedPayloads(config, backbone, logger),
    endpointsOf: createEndpointsOf(backbone.store),
    sendTest: testEvents(core, stopping.signal),
    clientCertificate: shownCertificate(config),
    publishing: { broker: backbone.broker, topics: config.paymentTopics, behindMs, stopping: stopping.signal },
    handleCommand,
    sealing: backbone.sealing,
    webhookIds: createWebhookIds(backbone.store, randomUUID),
    checkEndpoint: endpointCheck(config),
    handleKeyedCommand: createKeyedCommandHandler(core.commands),
    fingerprints: createFingerprints([backbone.masterKey, ...backbone.previousKeys]),
    rateLimits: rateLimits(config),
    console: consoleParts(core),
    version: version(),
    now,
    logger,
    metrics: core.metrics.http,
    tracing: core.tracing,
    newRequestId: randomUUID,
  });
  core.readiness.part('api', () => null);
  const server = await listen(api, config.host, config.port, { connections: config.api.maxConnections });
  stops.push(async () => {
    const timer = setTimeout(() => stopping.abort(), WAITING_ENDS_AFTER_MS);
    await server.close();
    clearTimeout(timer);
  });
  return server;
}

type Tokens = Pick<ApiParts, 'verifyToken' | 'publisherScope' | 'ownTokens'>;

function tokens(core: Core, stops: Stop[]): Tokens {
  const { config, backbone } = core;
  const { jwksUrl, tokenLifetimeMs: lifetimeMs, ...rules } = config.auth;
  if (jwksUrl) {
    const keys = issuerKeys(jwksUrl, core, stops);
    const verifyToken = createIssuerTokens({ ...rules, clock, keys });
    return { verifyToken, publisherScope: rules.publisherScope, ownTokens: null };
  }
  const { masterKey, previousKeys } = backbone;
  const purpose = 'access-tokens';
  const previous = previousKeys.map((key) => key.derive(purpose));
  const keys = [masterKey.derive(purpose), ...previous] as const;
  const ownTokens = createOwnTokens({ ...rules, keys, lifetimeMs, clock });
  return { verifyToken: ownTokens.verify, publisherScope: PUBLISHER_SCOPE, ownTokens };
}

/**
 * Without keys every request is a 503, so the process is not ready until it has them: a new process with a wrong
 * AUTH_JWKS_URL gets no traffic. After that, an outage of the issuer is reported but the process stays ready: it
 * verifies with its cached keys, and every other process has lost the issuer too.
 */
function issuerKeys(url: string, { logger, readiness }: Core, stops: Stop[]): IssuerKeys {
  const keys = new IssuerKeys({ url, logger, now: monotonic });
  readiness.part('issuer keys', () => keys.whyNot, { needed: () => !keys.areInHand });
  keys.start();
  stops.push(() => keys.close());
  return keys;
}

function consoleParts({ config, logger }: Core): ApiParts['console'] {
  const files = readConsoleFiles(packageFile('dist/console/'));
  if (!files) logger.warn('the console was not built: /console answers 404');
  return { files, frameAncestors: config.api.consoleFrameAncestors };
}

function rateLimits({ api }: Config) {
  return {
    writes: createRateLimit({ name: 'writes', perMinute: api.writesPerMinute, now: monotonic }),
    tests: createRateLimit({ name: 'tests', perMinute: TESTS_PER_MINUTE, now: monotonic }),
    reads: new ReadLimit({ msPerMinute: api.readMsPerMinute, now: monotonic }),
    tokens: createRateLimit({ name: 'tokens', perMinute: api.tokensPerMinute, now: monotonic }),
  };
}

function endpointCheck({ delivery }: Config): (url: string) => CheckedEndpoint {
  const { allowedPorts, allowPrivateEndpoints: allowPrivate, deniedAddresses: denied } = delivery;
  const rules = { allowedPorts, allowPrivate, ...(denied && { denied }) };
  return (url) => parseEndpoint(url, rules);
}
