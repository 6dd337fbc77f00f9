/** Attempts over real connections to receivers that the test controls byte by byte. */
import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { type AttemptRequest, type AttemptResult, createAttempt } from '../../../src/delivery/attempt/attempt.js';
import { type AgentOptions, EndpointAgent } from '../../../src/endpoints/endpoint-agent.js';
import { certificateFor, testAuthority } from '../servers/certificates.js';
import { type Listener, listen } from '../servers/receiver.js';

/** ms; no test waits this long. */
export const LONG = 15_000;
/** ms; short enough to wait for. */
export const SHORT = 150;
export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

export interface ScriptedReceiver extends Listener {
  readonly counts: { connections: number; requests: number };
}

export class AttemptFixture {
  readonly #cleanups: (() => Promise<void>)[] = [];

  /** Closed with the fixture, latest first. */
  onClose(cleanUp: () => Promise<void>): void {
    this.#cleanups.push(cleanUp);
  }

  async listening(server: Server): Promise<Listener> {
    const listener = await listen(server);
    this.onClose(listener.close);
    return listener;
  }

  /** A TLS server that passes each request's bytes to the test as they arrive; the test may write any response. */
  async scripted(onData: (socket: TLSSocket, connection: number) => void): Promise<ScriptedReceiver> {
    const server = createTlsServer(await certificateFor());
    const counts = { connections: 0, requests: 0 };
    server.on('secureConnection', (socket) => {
      const connection = ++counts.connections;
      socket.on('error', () => {});
      socket.on('data', () => {
        counts.requests++;
        onData(socket, connection);
      });
    });
    return { ...(await this.listening(server)), counts };
  }

  /** Trusts the test certificates by default. */
  async agent(options: Partial<AgentOptions> = {}): Promise<EndpointAgent> {
    const { cert: ca } = await testAuthority();
    const agent = new EndpointAgent({ allowPrivate: true, connectTimeoutMs: LONG, ca, ...options });
    this.onClose(() => agent.destroy());
    return agent;
  }

  /** One attempt at a receiver that does so with its request. */
  async answered(onData: (socket: TLSSocket, connection: number) => void, timeoutMs = LONG) {
    const listener = await this.scripted(onData);
    const result = await send(await this.agent(), `https://localhost:${listener.port}/`, timeoutMs);
    return { result, listener };
  }

  async close(): Promise<void> {
    for (const cleanUp of this.#cleanups.splice(0).reverse()) await cleanUp();
  }
}

/** An attempt through an agent; without a body, so that a request reaches its receiver as one chunk. */
export async function send(agent: EndpointAgent, url: string, timeoutMs = LONG): Promise<AttemptResult> {
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'test/1' });
  await nextTurn(); // a connection is free one event-loop turn after its response
  return attempt(requestTo(url));
}

export function requestTo(url: string): AttemptRequest {
  const { signal } = new AbortController();
  return { accountId: 42, url, id: 'msg_1', body: Buffer.alloc(0), headers: [], secrets: [Buffer.alloc(32)], signal };
}

/** @param reason not compared if undefined */
export function failure(error: string, reason?: string) {
  return { kind: 'retryable', status: null, error, ...(reason && { reason }), retryAfterMs: null };
}

/** Writes for as long as the other side reads. */
export function writeForEver(socket: TLSSocket, text: string): void {
  const more = () => {
    while (socket.writable && socket.write(text));
  };
  socket.on('drain', more);
  more();
}
