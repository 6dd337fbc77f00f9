/** The API's HTTP server: limits untrusted input, and drains on close. */
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import { ApiError, bodyOf } from './api-error.js';

/** Longer than the minute for which load balancers commonly keep a connection, so that they close it first. */
const KEEP_ALIVE_MS = 65_000;
/** With the dispatcher's 8 s this stays below the 10 s limit of a stop. */
const DRAIN_MS = 1_500;

const LIMITS = {
  /** Request line and headers; larger ones are 431. */
  headBytes: 16_384,
  /** Time for a head, and for a whole request, from its first byte or the connection on; longer is 408. */
  headMs: 10_000,
  requestMs: 30_000,
  /** How often Node checks for slow requests; its default is 30 s. */
  lookEveryMs: 1_000,
  /** How long a response may wait for a reader that takes none of it, and a new connection for its first byte. */
  stallMs: 30_000,
  /** Unanswered requests allowed on a connection, handled one after the other: one more closes it. */
  pipelined: 32,
  /** Connections above the limit are closed on arrival. */
  connections: 10_000,
};

export type ServerLimits = typeof LIMITS;

/** @throws the error of listen, if the port is not available */
export async function listen(app: Koa, host: string, port: number, given: Partial<ServerLimits> = {}) {
  const limits = { ...LIMITS, ...given };
  const options = {
    maxHeaderSize: limits.headBytes,
    headersTimeout: limits.headMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.lookEveryMs,
    requireHostHeader: false,
  };
  const unanswered = new Pipelines();
  const handle = guarded(app.callback(), unanswered, limits.pipelined);
  const server = createServer(options, (request, response) => {
    // It stops: another request on the connection would be cut off.
    if (!server.listening) response.setHeader('connection', 'close');
    handle(request, response);
  });
  // Once there is a listener, Node leaves it to the listener to end a connection idle for this long. A response in
  // progress (a slow store, or a test of a slow receiver) is waited for; an unread response is not.
  server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0 || unanswered.of(socket) === 0) socket.destroy();
  });
  server.maxConnections = limits.connections;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.timeout = limits.stallMs;
  server.on('clientError', refuseRequest);
  // Expectations but 100-continue are ignored, as if absent.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => drained(server) };
}

interface Pipeline {
  /** Unanswered requests, including the one in progress. */
  unanswered: number;
  readonly waiting: (() => void)[];
}

/**
 * Handles a connection's requests one after the other: responses leave in this order anyway, and a response finished
 * early would wait in memory. 40 connections that pipelined 32 GETs of 3 MB and read nothing took 3.5 GiB.
 */
class Pipelines {
  readonly #pipelines = new WeakMap<Socket, Pipeline>();

  of(socket: Socket): number {
    return this.#pipelines.get(socket)?.unanswered ?? 0;
  }

  add(socket: Socket, response: ServerResponse, handle: () => void): void {
    const pipeline = this.#pipelines.get(socket) ?? this.#open(socket);
    pipeline.unanswered += 1;
    response.once('close', () => {
      pipeline.unanswered -= 1;
      if (!socket.destroyed) pipeline.waiting.shift()?.();
    });
    if (pipeline.unanswered === 1) handle();
    else pipeline.waiting.push(handle);
  }

  #open(socket: Socket): Pipeline {
    const pipeline = { unanswered: 0, waiting: [] };
    this.#pipelines.set(socket, pipeline);
    return pipeline;
  }
}

function guarded(handle: RequestListener, unanswered: Pipelines, pipelined: number): RequestListener {
  return (request, response) => {
    const { socket } = request;
    // Requests read together with the one above the limit still arrive here.
    if (socket.destroyed || unanswered.of(socket) >= pipelined) socket.destroy();
    else unanswered.add(socket, response, () => handle(request, response));
  };
}

/** By the codes of Node's errors. */
const CODES: Readonly<Record<string, 'head-too-large' | 'request-timeout'>> = {
  HPE_HEADER_OVERFLOW: 'head-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
};

/** Answers a request that Node's parser rejects, in the usual error shape. */
function refuseRequest(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = new ApiError({ code: CODES[error.code ?? ''] ?? 'malformed-request' });
  const body = JSON.stringify(bodyOf(refusal));
  const lines = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  // After `end` alone the connection would stay for as long as the client likes.
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
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
