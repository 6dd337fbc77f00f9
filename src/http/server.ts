/** The REST API: its routes, and the middleware in order. */
import Router from '@koa/router';
import Koa, { type Middleware } from 'koa';
import type { VerifyToken } from '../accounts/access-tokens.js';
import type { ChangeCredentials } from '../accounts/change-credentials.js';
import type { RandomBytes } from '../accounts/client-credentials.js';
import type { OwnTokens } from '../accounts/own-tokens.js';
import type { Logger } from '../observability/logger.js';
import type { HttpMetrics } from '../observability/metrics.js';
import type { Tracing } from '../observability/tracing.js';
import type { EventStore } from '../ports/event-store.js';
import type { SendAgain } from '../ports/send-again.js';
import type { Accounts } from '../read-model/accounts.js';
import type { HandleCommand } from '../webhooks/handle-command.js';
import { answerErrors } from './answer-errors.js';
import { formBody, jsonBody } from './body.js';
import {
  type ClientCertificate,
  showClientCertificate,
  operation as showClientCertificateOperation,
} from './client-certificate/show-client-certificate.js';
import { type ConsoleParts, registerConsole } from './console/show-console.js';
import { listDeliveries, operation as listDeliveriesOperation } from './deliveries/list-deliveries.js';
import {
  listWebhookDeliveries,
  operation as listWebhookDeliveriesOperation,
} from './deliveries/list-webhook-deliveries.js';
import {
  type Cancel,
  cancelDelivery,
  cancelOperation,
  resendDelivery,
  resendOperation,
} from './deliveries/resend-delivery.js';
import {
  type ShowDeliveryParts,
  showDelivery,
  operation as showDeliveryOperation,
} from './deliveries/show-delivery.js';
import { showAsyncApi, operation as showAsyncApiOperation } from './documents/show-asyncapi.js';
import { showOpenApi, operation as showOpenApiOperation } from './documents/show-openapi.js';
import type { EventCatalogue } from './event-types/event-catalogue.js';
import { listEventTypes, operation as listEventTypesOperation } from './event-types/list-event-types.js';
import { operation as listEventsOperation } from './events/events-operation.js';
import { type EventsParts, listEvents } from './events/list-events.js';
import { listHistory, operation as listHistoryOperation } from './history/list-history.js';
import { measured, tagRoute } from './measured.js';
import { removeNotices, operation as removeNoticesOperation } from './notices/remove-notices.js';
import { setNotices, operation as setNoticesOperation } from './notices/set-notices.js';
import { showNotices, operation as showNoticesOperation } from './notices/show-notices.js';
import type { Operation } from './operation.js';
import {
  type Publishing,
  publishEvents,
  operation as publishEventsOperation,
} from './payment-events/publish-events.js';
import { limitRate, type RateLimit } from './rate-limit.js';
import type { ReadLimit } from './read-limit.js';
import { listOperation, listRecoveries } from './recoveries/list-recoveries.js';
import { showOperation, showRecovery, stopOperation, stopRecovery } from './recoveries/show-recovery.js';
import {
  previewOperation,
  previewRecovery,
  type StartRecoveryParts,
  startOperation,
  startRecovery,
} from './recoveries/start-recovery.js';
import { requestContext } from './request-context.js';
import { createAuthenticateSession, mustHave } from './sessions/authenticate-session.js';
import {
  enterSession,
  enterSessionOperation,
  leaveSession,
  leaveSessionOperation,
  showSession,
  showSessionOperation,
} from './sessions/console-session.js';
import { endSession, operation as endSessionOperation } from './sessions/end-session.js';
import { listSessions, operation as listSessionsOperation } from './sessions/list-sessions.js';
import { openSession, operation as openSessionOperation } from './sessions/open-session.js';
import { createSessionCookies } from './sessions/session-cookie.js';
import {
  listSigningSecrets,
  operation as listSigningSecretsOperation,
} from './signing-secrets/list-signing-secrets.js';
import {
  rotateSigningSecret,
  operation as rotateSigningSecretOperation,
} from './signing-secrets/rotate-signing-secret.js';
import { type StatsParts, showStats, operation as showStatsOperation } from './stats/show-stats.js';
import { authenticateAccount, authenticatePublisher } from './tokens/authenticate.js';
import { issueToken, operation as issueTokenOperation, tokenErrors } from './tokens/issue-token.js';
import { listCredentials, operation as listCredentialsOperation } from './tokens/list-credentials.js';
import {
  showAuthorizationServer,
  operation as showAuthorizationServerOperation,
} from './tokens/show-authorization-server.js';
import { traced } from './traced.js';
import { UnsentAnswers } from './unsent-answers.js';
import type { DeliveryCounts } from './webhooks/held-deliveries.js';
import { listWebhooks, operation as listWebhooksOperation, type Past, type Reading } from './webhooks/list-webhooks.js';
import { createOwnWebhook } from './webhooks/own-webhook.js';
import {
  type RegisterWebhookParts,
  registerWebhook,
  operation as registerWebhookOperation,
} from './webhooks/register-webhook.js';
import { removeWebhook, operation as removeWebhookOperation } from './webhooks/remove-webhook.js';
import { showWebhook, operation as showWebhookOperation } from './webhooks/show-webhook.js';
import { type SendTest, testWebhook, operation as testWebhookOperation } from './webhooks/test-webhook.js';
import { updateWebhook, operation as updateWebhookOperation } from './webhooks/update-webhook.js';
import {
  type HealthParts,
  showWebhooksHealth,
  operation as showWebhooksHealthOperation,
} from './webhooks/webhooks-health.js';

export interface ApiParts extends RegisterWebhookParts, HealthParts, EventsParts, StatsParts, Past {
  readonly catalogue: EventCatalogue;
  readonly handleCommand: HandleCommand;
  readonly accounts: Accounts;
  readonly sendAgain: SendAgain;
  readonly cancel: Cancel;
  readonly deliveryCounts: DeliveryCounts;
  readonly orderRecovery: StartRecoveryParts['orderRecovery'];
  readonly changeCredentials: ChangeCredentials;
  readonly randomBytes: RandomBytes;
  /** For the history of accounts. */
  readonly store: Pick<EventStore, 'read'>;
  readonly payloads: ShowDeliveryParts['payloads'];
  readonly endpointsOf: ShowDeliveryParts['endpointsOf'];
  readonly sendTest: SendTest;
  /** Of deliveries; null: they show none. */
  readonly clientCertificate: ClientCertificate | null;
  readonly verifyToken: VerifyToken;
  /** The scope of publishers' tokens. */
  readonly publisherScope: string;
  readonly publishing: Publishing;
  readonly console: Omit<ConsoleParts, 'publicUrl'>;
  /** Null if another issuer's tokens are accepted: then there is no POST /oauth/token and no metadata for it. */
  readonly ownTokens: OwnTokens | null;
  /** The service's public URL, without a trailing slash; null: the Host of each request. */
  readonly publicUrl: string | null;
  readonly rateLimits: Readonly<Record<'writes' | 'tests' | 'tokens', RateLimit>> & { readonly reads: ReadLimit };
  /** The service's version, for /openapi.json. */
  readonly version: string;
  readonly logger: Logger;
  readonly metrics: HttpMetrics;
  readonly tracing: Tracing;
  readonly newRequestId: () => string;
}

interface Route {
  readonly operation: Operation;
  readonly handle: Middleware;
}

export function createApi(parts: ApiParts): Koa {
  const app = new Koa();
  // Errors of broken connections; errors of requests end in answerErrors.
  app.on('error', (error: Error) => parts.logger.debug({ err: error }, 'a connection failed'));
  app.use(requestContext(parts.newRequestId));
  if (parts.tracing.exports) app.use(traced(parts.tracing));
  app.use(measured(parts.metrics));
  app.use(answerErrors(parts.logger));
  app.use(routed(documented(routes(parts), parts), parts).routes());
  return app;
}

/** One line per operation; each description determines the middleware. */
function routes(parts: ApiParts): Route[] {
  const { accounts, sealing, handleCommand, deliveryCounts, now, ownTokens } = parts;
  const ownWebhook = createOwnWebhook(accounts);
  const reading = { reads: parts.rateLimits.reads, unsent: new UnsentAnswers() };
  return [
    { operation: registerWebhookOperation, handle: registerWebhook(parts) },
    { operation: listWebhooksOperation, handle: listWebhooks(accounts, sealing, parts, reading) },
    // Before the routes of /api/webhooks/{id}: it would be an id.
    { operation: showWebhooksHealthOperation, handle: showWebhooksHealth(parts, reading) },
    { operation: showWebhookOperation, handle: showWebhook(ownWebhook, sealing, deliveryCounts, reading) },
    { operation: updateWebhookOperation, handle: updateWebhook(parts) },
    { operation: removeWebhookOperation, handle: removeWebhook(handleCommand, deliveryCounts, now) },
    { operation: listDeliveriesOperation, handle: listDeliveries(accounts, parts.view, reading) },
    {
      operation: listWebhookDeliveriesOperation,
      handle: listWebhookDeliveries(ownWebhook, parts.view, reading),
    },
    { operation: resendOperation, handle: resendDelivery(parts, reading) },
    { operation: cancelOperation, handle: cancelDelivery(parts, reading) },
    { operation: previewOperation, handle: previewRecovery(ownWebhook, parts.view, reading, now) },
    { operation: startOperation, handle: startRecovery(parts, reading) },
    { operation: listOperation, handle: listRecoveries(accounts, parts.view, reading) },
    { operation: showOperation, handle: showRecovery(accounts, parts.view, reading) },
    { operation: stopOperation, handle: stopRecovery(parts, reading) },
    { operation: showDeliveryOperation, handle: showDelivery(parts, reading) },
    { operation: testWebhookOperation, handle: testWebhook(ownWebhook, parts.sendTest, parts.logger) },
    { operation: listHistoryOperation, handle: listHistory(accounts, parts.store, reading) },
    { operation: listSigningSecretsOperation, handle: listSigningSecrets(accounts, now, reading) },
    { operation: rotateSigningSecretOperation, handle: rotateSigningSecret(parts) },
    { operation: listCredentialsOperation, handle: listCredentials(accounts, reading) },
    { operation: showClientCertificateOperation, handle: showClientCertificate(parts.clientCertificate, reading) },
    ...sessionRoutes(parts, reading),
    { operation: showNoticesOperation, handle: showNotices(accounts, sealing, reading) },
    { operation: setNoticesOperation, handle: setNotices(parts) },
    { operation: removeNoticesOperation, handle: removeNotices(handleCommand, now) },
    { operation: publishEventsOperation, handle: publishEvents(parts.publishing) },
    { operation: listEventsOperation, handle: listEvents(parts, reading) },
    { operation: showStatsOperation, handle: showStats(parts, reading) },
    { operation: listEventTypesOperation, handle: listEventTypes(parts.catalogue, reading) },
    ...(ownTokens ? tokenRoutes(ownTokens, parts) : []),
    { operation: showAsyncApiOperation, handle: showAsyncApi(parts.catalogue) },
  ];
}

function sessionRoutes(parts: ApiParts, reading: Reading): Route[] {
  const { accounts, changeCredentials, now } = parts;
  const browser = { ...parts, cookies: createSessionCookies(parts.publicUrl) };
  return [
    { operation: openSessionOperation, handle: openSession(parts) },
    { operation: listSessionsOperation, handle: listSessions(accounts, now, reading) },
    { operation: endSessionOperation, handle: endSession(changeCredentials, now) },
    { operation: enterSessionOperation, handle: enterSession(browser) },
    { operation: showSessionOperation, handle: showSession() },
    { operation: leaveSessionOperation, handle: leaveSession(browser) },
  ];
}

function tokenRoutes(ownTokens: OwnTokens, { accounts, rateLimits, publicUrl }: ApiParts): Route[] {
  return [
    { operation: issueTokenOperation, handle: issueToken(ownTokens, accounts, rateLimits.tokens) },
    { operation: showAuthorizationServerOperation, handle: showAuthorizationServer(publicUrl) },
  ];
}

function documented(all: readonly Route[], { version, ownTokens }: ApiParts): Route[] {
  const operations = [...all.map(({ operation }) => operation), showOpenApiOperation];
  const handle = showOpenApi(operations, { version, issuesTokens: ownTokens !== null });
  return [...all, { operation: showOpenApiOperation, handle }];
}

function routed(all: readonly Route[], parts: ApiParts): Router {
  const { accounts, verifyToken, publisherScope, rateLimits, publicUrl, now } = parts;
  const router = new Router({ sensitive: true });
  const session = createAuthenticateSession({ accounts, cookies: createSessionCookies(publicUrl), now });
  const authenticated = authenticateAccount(verifyToken, accounts, session);
  const publisher = authenticatePublisher(verifyToken, accounts, publisherScope);
  for (const { operation, handle } of all) {
    const { method, path, security, right = 'read', rateLimit, body } = operation;
    const before: Middleware[] = [tagRoute(operation)];
    if (security === 'bearer') before.push(authenticated, mustHave(right));
    if (security === 'session') before.push(session.authenticate);
    if (security === 'publisher') before.push(publisher);
    if (security === 'bearer' && rateLimit && rateLimit !== 'reads') before.push(limitRate(rateLimits[rateLimit]));
    if (body?.type === 'json') before.push(jsonBody());
    if (body?.type === 'form') before.push(tokenErrors, formBody());
    router.register(path.replace(/\{(\w+)\}/g, ':$1'), [method], [...before, handle]);
  }
  registerConsole(router, { ...parts.console, publicUrl: parts.publicUrl });
  return router;
}
