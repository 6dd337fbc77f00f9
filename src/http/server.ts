/** The REST API: its routes, and the middleware in order. */
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import { answerErrors, assertWithin } from './api-error.js';
import type { ApiParts } from './api-parts.js';
import { showClientCertificate } from './client-certificate.js';
import { registerConsole } from './console.js';
import { listAccountDeliveries, listDeliveries } from './deliveries/list-deliveries.js';
import { cancelDelivery, resendDelivery } from './deliveries/resend-delivery.js';
import { showDelivery } from './deliveries/show-delivery.js';
import { showAsyncApi, showOpenApi } from './documents/openapi-document.js';
import { listEvents } from './events/list-events.js';
import { listHistory } from './history.js';
import { listEventTypes } from './list-event-types.js';
import { removeNotices, setNotices, showNotices } from './notices.js';
import type { Route } from './operation.js';
import { publishEvents } from './payment-events/publish-events.js';
import { listRecoveries, showRecovery, stopRecovery } from './recoveries/recoveries.js';
import { previewRecovery, startRecovery, startRecoveryOfSeveral } from './recoveries/start-recovery.js';
import { mayUseReserve, measured, requestContext, requesterOf, tagged, traced } from './request-context.js';
import { routes as sessions } from './sessions/console-session.js';
import { listSigningSecrets, rotateSigningSecret } from './signing-secrets.js';
import { showStats } from './stats.js';
import { assertMay, createAuthentication } from './tokens/authenticate.js';
import { routes as tokens } from './tokens/credentials.js';
import { moveWebhooks, removeWebhook, updateWebhook } from './webhooks/change-webhook.js';
import { listWebhooks } from './webhooks/list-webhooks.js';
import { registerWebhook } from './webhooks/register-webhook.js';
import { showWebhook } from './webhooks/show-webhook.js';
import { testNotices, testWebhook } from './webhooks/test-webhook.js';
import { showWebhooksHealth } from './webhooks/webhooks-health.js';

/** Each operation, with the types of what it takes and answers. */
export type ApiRoute = ReturnType<typeof routes>[number];

export function createApi(parts: ApiParts): Koa {
  const app = new Koa();
  // Errors of broken connections; errors of requests end in answerErrors.
  app.on('error', (error: Error) => parts.logger.debug({ err: error }, 'a connection failed'));
  app.use(requestContext(parts.newRequestId));
  if (parts.tracing) app.use(traced(parts.tracing));
  app.use(measured(parts.metrics));
  app.use(answerErrors(parts.logger));
  const all = routes(parts);
  app.use(routed([...all, showOpenApi(all, parts.version)], parts));
  return app;
}

function routes(parts: ApiParts) {
  return [
    registerWebhook(parts),
    listWebhooks(parts),
    showWebhooksHealth(parts),
    moveWebhooks(parts),
    showWebhook(parts),
    updateWebhook(parts),
    removeWebhook(parts),
    testWebhook(parts),
    listAccountDeliveries(parts),
    listDeliveries(parts),
    showDelivery(parts),
    resendDelivery(parts),
    cancelDelivery(parts),
    previewRecovery(parts),
    startRecovery(parts),
    startRecoveryOfSeveral(parts),
    listRecoveries(parts),
    showRecovery(parts),
    stopRecovery(parts),
    ...sessions(parts),
    listEvents(parts),
    showStats(parts),
    listHistory(parts),
    listSigningSecrets(parts),
    rotateSigningSecret(parts),
    showClientCertificate(parts),
    showNotices(parts),
    setNotices(parts),
    testNotices(parts),
    removeNotices(parts),
    publishEvents(parts.publishing),
    listEventTypes(parts),
    ...tokens(parts),
    showAsyncApi(parts),
  ];
}

/**
 * A router tries the pattern of each route that it has, and there are 50: so a path without an id has one of its own, and those
 * with an id have one for each resource. So `/api/webhooks/health` is no webhook's, whatever the method.
 */
function routed(all: readonly Route[], parts: ApiParts): ReturnType<Router['routes']> {
  const admitted = createAdmitted(parts);
  const routers = new Map<string, Router>();
  const routerOf = (key: string) => {
    const router = routers.get(key) ?? new Router({ sensitive: true });
    routers.set(key, router);
    return router;
  };
  for (const one of all) {
    const path = one.path.replace(/\{(\w+)\}/g, ':$1');
    routerOf(path === one.path ? path : resourceOf(path)).register(
      path,
      [one.method],
      [tagged(one, admitted(one), parts.metrics)],
    );
  }
  registerConsole(routerOf('/'), { ...parts.console, publicUrl: parts.publicUrl });
  const routes = new Map([...routers].map(([key, router]) => [key, router.routes()]));
  return (ctx, next) => {
    if (ctx.path.length > MAX_PATH_CHARACTERS) return next();
    const found = routes.get(ctx.path.replace(/(?<=.)\/$/, '')) ?? routes.get(resourceOf(ctx.path));
    return found ? found(ctx, next) : next();
  };
}

const API = '/api/';

/** Twice the longest path at which a session of the console may start (`next`). */
const MAX_PATH_CHARACTERS = 4_096;

/** `/api/webhooks` of `/api/webhooks/7`; all paths outside of the API are of one resource. */
function resourceOf(path: string): string {
  if (!path.startsWith(API)) return '/';
  const end = path.indexOf('/', API.length);
  return end === -1 ? path : path.slice(0, end);
}

/** In the order of refusals: who asks, whether they may, how often. Then the operation, which reads the rest. */
function createAdmitted(parts: ApiParts): (one: Route) => Middleware {
  const authentication = createAuthentication(parts);
  return ({ security, right = 'read', rateLimit, usesReserve, handle }) => {
    if (security === 'none' || security === 'client') return handle;
    const authenticate = authentication[security];
    const isOfAccount = security === 'bearer' || security === 'token';
    const limit = isOfAccount && rateLimit && rateLimit !== 'reads' ? parts.rateLimits[rateLimit] : null;
    return async (ctx) => {
      await authenticate(ctx);
      if (isOfAccount) assertMay(ctx, right);
      if (usesReserve) mayUseReserve(ctx, parts.reserve);
      if (limit) assertWithin(limit, requesterOf(ctx));
      await handle(ctx);
    };
  };
}
