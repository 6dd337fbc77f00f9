/** The role that answers REST clients, put together by the settings. */
import { randomUUID } from 'node:crypto';
import { createIssuerTokens, createOwnTokens, type OwnTokens, type VerifyToken } from '../accounts/access-tokens.js';
import type { Backbone } from '../backbone.js';
import type { Config } from '../config.js';
import { parseEndpoint } from '../endpoints/endpoint-url.js';
import { createHostCheck } from '../endpoints/host-check.js';
import type { LookupAll } from '../endpoints/resolve.js';
import { listen, type RunningServer } from '../http/listen.js';
import { createRateLimit } from '../http/rate-limit.js';
import type { CheckedEndpoint } from '../http/register-webhook.js';
import { createApi } from '../http/server.js';
import { createFingerprints } from '../idempotency/fingerprint.js';
import { createIdempotencyKeys, type IdempotencyKeys } from '../idempotency/idempotency-keys.js';
import type { Logger } from '../observability/logger.js';
import { createWebhookIds } from '../webhooks/webhook-ids.js';
import { followDeliveries, testEvents } from './api-deliveries.js';
import type { Core, Stop } from './core.js';
import { version } from './version.js';

const clock = { now: () => Date.now() };
const now = () => new Date(clock.now());
/** Less than the server takes to drain: those who asked for a test still hear how it ended. */
const TESTS_END_AFTER_MS = 1_000;

export async function startListening(core: Core, stops: Stop[]): Promise<RunningServer> {
  const { config, logger, backbone, accounts, handleCommand } = core;
  const endTests = new AbortController();
  const api = createApi({
    ...tokens(config, backbone, logger),
    accounts,
    deliveries: followDeliveries(core, stops),
    sendTest: testEvents(core, endTests.signal, stops),
    handleCommand,
    sealing: backbone.sealing,
    webhookIds: createWebhookIds(backbone.store, randomUUID),
    checkEndpoint: endpointCheck(config, core.lookup),
    idempotencyKeys: idempotencyKeys(backbone),
    rateLimits: rateLimits(config),
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
    const timer = setTimeout(() => endTests.abort(), TESTS_END_AFTER_MS);
    await server.close();
    clearTimeout(timer);
  });
  return server;
}

function tokens(
  { auth }: Config,
  { masterKey, previousKeys }: Backbone,
  logger: Logger,
): { verifyToken: VerifyToken; ownTokens: OwnTokens | null } {
  const { issuer, audience, accountClaim, jwksUrl, tokenLifetimeMs: lifetimeMs } = auth;
  if (jwksUrl) {
    const verifyToken = createIssuerTokens({ jwksUrl, issuer, audience, accountClaim, clock, logger });
    return { verifyToken, ownTokens: null };
  }
  const purpose = 'access-tokens';
  const previous = previousKeys.map((key) => key.derive(purpose));
  const keys = [masterKey.derive(purpose), ...previous] as const;
  const ownTokens = createOwnTokens({ issuer, audience, keys, lifetimeMs, clock });
  return { verifyToken: ownTokens.verify, ownTokens };
}

function idempotencyKeys({ store, masterKey, previousKeys }: Backbone): IdempotencyKeys {
  const fingerprints = createFingerprints([masterKey, ...previousKeys]);
  return createIdempotencyKeys({ store, fingerprints, newEventId: randomUUID, now });
}

function rateLimits({ api }: Config) {
  const monotonic = () => performance.now();
  return {
    writes: createRateLimit({ name: 'writes', perMinute: api.writesPerMinute, now: monotonic }),
    tokens: createRateLimit({ name: 'tokens', perMinute: api.tokensPerMinute, now: monotonic }),
  };
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
