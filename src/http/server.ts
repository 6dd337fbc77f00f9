/** The REST API: its routes, and the middleware in order. */
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { VerifyToken } from '../accounts/access-tokens.js';
import type { OwnTokens } from '../accounts/own-tokens.js';
import type { Logger } from '../observability/logger.js';
import type { HttpMetrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import type { EventCatalogue } from '../payments/event-catalogue.js';
import type { AskView } from '../ports/deliveries-view.js';
import type { PublishedPayloads } from '../ports/published-payloads.js';
import type { Accounts } from '../read-model/accounts.js';
import type { Sealing } from '../secrets/sealing.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import type { Admission } from './admission.js';
import { answerErrors } from './api-error.js';
import { formBody, jsonBody } from './body.js';
import { type ClientCertificate, showClientCertificate } from './client-certificate.js';
import { type ConsoleParts, registerConsole } from './console.js';
import { type DeliveryParts, deliveryRoutes } from './deliveries/delivery-routes.js';
import { showOpenApi } from './documents/openapi-document.js';
import { showAsyncApi } from './documents/show-async-api.js';
import { listEvents } from './events/list-events.js';
import { listHistory } from './history.js';
import { listEventTypes } from './list-event-types.js';
import { removeNotices, setNotices, showNotices } from './notices.js';
import type { Operation, Route } from './operation.js';
import { type Publishing, publishEvents } from './payment-events/publish-events.js';
import { limitRate, type RateLimit } from './rate-limit.js';
import { type RecoveryParts, recoveryRoutes } from './recoveries/recovery-routes.js';
import { measured, requestContext, tagRoute, traced } from './request-context.js';
import { createSessionCookies } from './sessions/session-cookie.js';
import { type SessionParts, sessionRoutes } from './sessions/session-routes.js';
import { listSigningSecrets, rotateSigningSecret } from './signing-secrets.js';
import { showStats } from './stats.js';
import {
  authenticateAccount,
  authenticatePublisher,
  createAuthenticateSession,
  mustHave,
  orSession,
} from './tokens/authenticate.js';
import { listCredentials, showAuthorizationServer } from './tokens/credentials.js';
import { issueToken, tokenErrors } from './tokens/issue-token.js';
import { testNotices } from './webhooks/test-webhook.js';
import { type WebhookParts, webhookRoutes } from './webhooks/webhook-routes.js';

export interface ApiParts extends WebhookParts, DeliveryParts, RecoveryParts, SessionParts {
  readonly accounts: Accounts;
  readonly view: AskView;
  readonly sealing: Sealing;
  readonly payloads: PublishedPayloads;
  readonly handleCommand: HandleCommand;
  readonly catalogue: EventCatalogue;
  /** Of deliveries; null: they show none. */
  readonly clientCertificate: ClientCertificate | null;
  readonly verifyToken: VerifyToken;
  readonly publisherScope: string;
  readonly publishing: Publishing;
  readonly console: Omit<ConsoleParts, 'publicUrl'>;
  /** Null if another issuer's tokens are accepted: then there is no POST /oauth/token and no metadata for it. */
  readonly ownTokens: OwnTokens | null;
  readonly rateLimits: Readonly<Record<'writes' | 'tests' | 'tokens', RateLimit>>;
  readonly admission: Admission;
  readonly version: string;
  /** docs/asyncapi.json */
  readonly asyncApi: string;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly tracing: Pick<Tracing, 'begin'> | null;
  readonly newRequestId: () => string;
}

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
  app.use(routed(documented(routes(parts), parts), parts));
  return app;
}

function routes(parts: ApiParts) {
  const { accounts, sealing, handleCommand, now, ownTokens, admission } = parts;
  return [
    ...webhookRoutes(parts, admission),
    ...deliveryRoutes(parts, admission),
    ...recoveryRoutes(parts, admission),
    ...sessionRoutes(parts, admission),
    listEvents(parts, admission),
    showStats(accounts, parts.view, now, admission),
    listHistory(accounts, parts.store, admission),
    listSigningSecrets(accounts, now, admission),
    rotateSigningSecret(parts.changeCredentials, sealing, parts.randomBytes, now),
    listCredentials(accounts, admission),
    showClientCertificate(parts.clientCertificate, admission),
    showNotices(accounts, sealing, admission),
    setNotices(parts, handleCommand, now),
    testNotices(accounts, parts.sendTest, parts.logger),
    removeNotices(handleCommand, now),
    publishEvents(parts.publishing),
    listEventTypes(parts.catalogue, admission),
    ...(ownTokens ? tokenRoutes(ownTokens, parts) : []),
    showAsyncApi(parts.asyncApi),
  ];
}

function tokenRoutes(ownTokens: OwnTokens, { accounts, rateLimits, publicUrl }: ApiParts) {
  return [issueToken(ownTokens, accounts, rateLimits.tokens), showAuthorizationServer(publicUrl)];
}

function documented(all: readonly Route[], { version, ownTokens }: ApiParts): Route[] {
  return [...all, showOpenApi(all, { version, issuesTokens: ownTokens !== null })];
}

/** A router for each resource: at each request it tries the pattern of every route that it has, and there are 50. */
function routed(all: readonly Route[], parts: ApiParts): ReturnType<Router['routes']> {
  const before = beforeHandling(parts);
  const routers = new Map<string, Router>();
  const routerOf = (path: string) => {
    const router = routers.get(resourceOf(path)) ?? new Router({ sensitive: true });
    routers.set(resourceOf(path), router);
    return router;
  };
  for (const one of all) {
    const path = one.path.replace(/\{(\w+)\}/g, ':$1');
    routerOf(path).register(path, [one.method], [tagRoute(one), ...before(one), one.handle]);
  }
  registerConsole(routerOf('/'), { ...parts.console, publicUrl: parts.publicUrl });
  const routes = new Map([...routers].map(([resource, router]) => [resource, router.routes()]));
  return (ctx, next) => routes.get(resourceOf(ctx.path))?.(ctx, next) ?? next();
}

const API = '/api/';

/** `/api/webhooks` of `/api/webhooks/7`; all paths outside of the API are of one resource. */
function resourceOf(path: string): string {
  if (!path.startsWith(API)) return '/';
  const end = path.indexOf('/', API.length);
  return end === -1 ? path : path.slice(0, end);
}

function beforeHandling({ accounts, verifyToken, publisherScope, rateLimits, publicUrl, now }: ApiParts) {
  const session = createAuthenticateSession(accounts, createSessionCookies(publicUrl), now);
  const byToken = authenticateAccount(verifyToken, accounts);
  const byEither = orSession(byToken, session);
  const publisher = authenticatePublisher(verifyToken, accounts, publisherScope);
  const known = ({ security, right = 'read', by, rateLimit }: Operation): readonly Middleware[] => {
    if (security === 'session') return [session.authenticate];
    if (security === 'publisher') return [publisher];
    if (security !== 'bearer') return [];
    const isCounted = rateLimit && rateLimit !== 'reads';
    return [by ? byToken : byEither, mustHave(right), ...(isCounted ? [limitRate(rateLimits[rateLimit])] : [])];
  };
  const body = ({ body: taken }: Operation): readonly Middleware[] => {
    if (taken?.type === 'json') return [jsonBody(taken.isOptional)];
    return taken?.type === 'form' ? [tokenErrors, formBody()] : [];
  };
  return (one: Operation) => [...known(one), ...body(one)];
}
