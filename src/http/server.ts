/** The REST face: middleware in its order, routes, and a server that drains when it is closed. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import Router from '@koa/router';
import Koa from 'koa';
import type { OwnTokens, VerifyToken } from '../accounts/access-tokens.js';
import type { Logger } from '../observability/logger.js';
import type { Accounts } from '../read-model/accounts.js';
import { answerErrors } from './answer-errors.js';
import { authenticate } from './authenticate.js';
import { formBody, jsonBody } from './body.js';
import { issueToken, tokenErrors } from './issue-token.js';
import { listWebhooks } from './list-webhooks.js';
import { type RegisterWebhookParts, registerWebhook } from './register-webhook.js';
import { requestContext } from './request-context.js';

const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
/** Longer than the minute that load balancers commonly keep a connection, so that they close it first. */
const KEEP_ALIVE_MS = 65_000;
/** With the dispatcher's 8 s this stays below the 10 s that a stop may take. */
const DRAIN_MS = 1_500;

export interface ApiParts extends RegisterWebhookParts {
  readonly accounts: Accounts;
  readonly verifyToken: VerifyToken;
  /** Null where another issuer's tokens are taken: then there is no POST /oauth/token. */
  readonly ownTokens: OwnTokens | null;
  readonly logger: Logger;
  readonly newRequestId: () => string;
}

export interface RunningServer {
  readonly port: number;
  close(): Promise<void>;
}

export function createApi(parts: ApiParts): Koa {
  const { accounts, sealing, verifyToken, ownTokens, logger } = parts;
  const authenticated = authenticate(verifyToken, accounts);
  const router = new Router({ sensitive: true });
  router.post('/api/webhooks', authenticated, jsonBody(), registerWebhook(parts));
  router.get('/api/webhooks', authenticated, listWebhooks(accounts, sealing));
  if (ownTokens) router.post('/oauth/token', tokenErrors, formBody(), issueToken(ownTokens, accounts));

  const app = new Koa();
  // What a broken connection emits; the requests themselves end in answerErrors.
  app.on('error', (error: Error) => logger.debug({ err: error }, 'a connection failed'));
  app.use(requestContext(parts.newRequestId));
  app.use(answerErrors(logger));
  app.use(router.routes());
  return app;
}

/** @throws the error of listen, where the port can't be had */
export async function listen(app: Koa, host: string, port: number): Promise<RunningServer> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: HEADERS_TIMEOUT_MS, requireHostHeader: false },
    app.callback(),
  );
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('clientError', refuseRequest);
  // Expect: 100-continue is met by Node; whatever else is expected is left aside, as if it had not been asked for.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => drained(server) };
}

/** What Node's parser does not take gets an answer in the shape of all others. */
function refuseRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const tooLong = error.code === 'HPE_HEADER_OVERFLOW';
  const late = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const status = tooLong ? '431 Request Header Fields Too Large' : late ? '408 Request Timeout' : '400 Bad Request';
  const body = JSON.stringify({ success: false, message: status.slice(4).toLowerCase() });
  const headers = `content-type: application/json; charset=utf-8\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
}

function drained(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
