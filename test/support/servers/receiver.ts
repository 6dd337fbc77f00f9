import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { certificateFor } from './certificates.js';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** A flat list of names and values, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** ms since the epoch */
  readonly at: number;
}

/** hang: no response, the connection stays open. reset: no response, the connection is closed; raw: after these bytes. */
export type Reply =
  | 'hang'
  | 'reset'
  | { readonly raw: string }
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Buffer };

export interface ReceiverOptions {
  /** Default: 200 with an empty body. */
  readonly respond?: (request: ReceivedRequest) => Reply | Promise<Reply>;
  /** The names of its certificate. */
  readonly names?: readonly string[];
  readonly tls?: TlsOptions;
}

export interface Listener {
  readonly port: number;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Waits for the first connection, and until every connection has closed. */
  allClosed(): Promise<void>;
  /** Destroys every connection. */
  close(): Promise<void>;
}

export interface Receiver extends Listener {
  /** https://localhost:port, without a path. */
  readonly url: string;
  /** In order of their complete receipt. */
  readonly requests: readonly ReceivedRequest[];
  /** Requests answered with 2xx, in order of the responses. */
  readonly taken: readonly ReceivedRequest[];
  /** Of each TLS handshake, whether it resumed a session. */
  readonly resumed: readonly boolean[];
}

/** An HTTPS server that records its requests. */
export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { respond = () => ({ status: 200 }), names, tls } = options;
  const requests: ReceivedRequest[] = [];
  const taken: ReceivedRequest[] = [];
  const server = createServer({ ...(await certificateFor(names)), ...tls }, async (message, response) => {
    const request = await receive(message);
    if (request === undefined) return;
    requests.push(request);
    const reply = await respond(request);
    if (isTaken(reply)) taken.push(request);
    answer(response, reply);
  });
  const resumed: boolean[] = [];
  server.on('secureConnection', (socket) => resumed.push(socket.isSessionReused()));
  const listener = await listen(server);
  return { ...listener, url: `https://localhost:${listener.port}`, requests, taken, resumed };
}

/** Lets any socket server listen, by default on a free port; its connections are closed with it. */
export async function listen(server: Server, onPort = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  const connected = new Promise((resolve) => server.once('connection', resolve));
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // a client that disconnects is no failure of the receiver
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(onPort, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    const closed = server.listening ? once(server, 'close') : undefined;
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const allClosed = async () => {
    await connected;
    await Promise.all([...sockets].map((socket) => once(socket, 'close')));
  };
  return { port: (server.address() as AddressInfo).port, sockets, allClosed, close };
}

/** The request, or undefined if the client disconnected before its end. */
async function receive(message: IncomingMessage): Promise<ReceivedRequest | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of message) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const { method = '', url: path = '', headers, rawHeaders } = message;
  return { method, path, headers, rawHeaders, body: Buffer.concat(chunks), at: Date.now() };
}

function isTaken(reply: Reply): boolean {
  return typeof reply === 'object' && 'status' in reply && reply.status >= 200 && reply.status < 300;
}

function answer(response: ServerResponse, reply: Reply): void {
  if (reply === 'hang') return;
  if (reply === 'reset') response.socket?.destroy();
  else if ('raw' in reply) response.socket?.end(reply.raw);
  else response.writeHead(reply.status, reply.headers).end(reply.body);
}
