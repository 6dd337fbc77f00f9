/** A receiver that echoes the request wherever a response has room for it, and fails in a different way for each path. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { certificateFor, testAuthority } from './certificates.js';
import { type Listener, listen } from './receiver.js';

/** The webhooks' header to echo. */
export const ECHOED = 'X-Secret';

export interface EchoingReceiver extends Listener {
  readonly url: string;
  /** Each request's path and echoed header. */
  readonly seen: readonly { readonly path: string; readonly secret: string | undefined }[];
  /** The common names of the clients' certificates. */
  readonly clients: ReadonlySet<string>;
}

interface Echo {
  readonly secret: string;
  readonly response: ServerResponse;
  readonly socket: Duplex;
  /** 1 for the first request to its path: the test event. */
  readonly time: number;
}

const PATHS: Readonly<Record<string, (echo: Echo) => void>> = {
  '/recovers': ({ secret, response, time }) => answer(response, time <= 2 ? 503 : 200, secret),
  '/fails': ({ secret, response }) => answer(response, 500, secret),
  '/gone': ({ secret, response }) => answer(response, 410, secret),
  '/redirects': ({ secret, response }) => {
    response.setHeader('location', `https://localhost/?key=${encodeURIComponent(secret)}`);
    answer(response, 302, secret);
  },
  '/asks-to-wait': ({ secret, response }) => {
    response.setHeader('retry-after', secret);
    answer(response, 429, secret);
  },
  '/no-http': ({ secret, socket }) => socket.end(`${secret} is no HTTP\r\n\r\n`),
  '/breaks-off': ({ secret, socket }) =>
    socket.end(`HTTP/1.1 500 ${secret}\r\ncontent-length: 9999\r\nx-echo: ${secret}\r\n\r\n${secret}`),
};

/** Asks for a certificate of the test authority, but does not require one. */
export async function startEchoingReceiver(): Promise<EchoingReceiver> {
  const seen: { path: string; secret: string | undefined }[] = [];
  const clients = new Set<string>();
  const tls = { ...(await certificateFor()), requestCert: true, rejectUnauthorized: false };
  const server = createServer({ ...tls, ca: (await testAuthority()).cert }, async (request, response) => {
    request.resume();
    const path = request.url?.split('?')[0] ?? '';
    const secret = request.headers[ECHOED.toLowerCase()]?.toString();
    seen.push({ path, secret });
    clients.add(commonName(request));
    const time = seen.filter((one) => one.path === path).length;
    const echo = { secret: secret ?? 'none', response, socket: request.socket, time };
    (PATHS[path] ?? (() => answer(response, 200, echo.secret)))(echo);
  });
  const listener = await listen(server);
  return { ...listener, url: `https://localhost:${listener.port}`, seen, clients };
}

function answer(response: ServerResponse, status: number, secret: string): void {
  const headers = { 'x-echo': secret, 'set-cookie': `secret=${encodeURIComponent(secret)}` };
  response.writeHead(status, secret, headers).end(JSON.stringify({ error: `wrong key: ${secret}` }));
}

function commonName(request: IncomingMessage): string {
  const certificate = (request.socket as TLSSocket).getPeerCertificate();
  return String(certificate.subject?.CN ?? 'nobody');
}
