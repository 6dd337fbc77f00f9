/** The role that answers REST clients, put together by the settings. */
import { randomUUID } from 'node:crypto';
import { createIssuerTokens, createOwnTokens, type OwnTokens, type VerifyToken } from '../accounts/access-tokens.js';
import type { Backbone } from '../backbone.js';
import type { Config } from '../config.js';
import { parseEndpoint } from '../endpoints/endpoint-url.js';
import { createHostCheck } from '../endpoints/host-check.js';
import type { LookupAll } from '../endpoints/resolve.js';
import type { CheckedEndpoint } from '../http/register-webhook.js';
import { createApi, listen, type RunningServer } from '../http/server.js';
import type { Logger } from '../observability/logger.js';
import { createWebhookIds } from '../webhooks/webhook-ids.js';
import type { Core, Stop } from './core.js';

const clock = { now: () => Date.now() };

export async function startListening(core: Core, stops: Stop[]): Promise<RunningServer> {
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
