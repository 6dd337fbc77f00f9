/** Attempts over real connections to receivers that behave as the test wants, byte by byte. */
import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { type AttemptRequest, type AttemptResult, createAttempt } from '../../src/delivery/attempt/attempt.js';
import { createEndpointAgent, type EndpointAgent } from '../../src/endpoints/endpoint-agent.js';
import type { ConnectorOptions } from '../../src/endpoints/guarded-connector.js';
import { certificateFor, testAuthority } from './certificates.js';
import { type Listener, listen } from './receiver.js';

/** ms that no test waits for. */
export const LONG = 15_000;
/** ms that a test waits for. */
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

  /** A TLS server that is handed each request's bytes as they come, and may answer whatever it likes. */
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

  /** It trusts the certificates of the tests, unless said otherwise. */
  async agent(options: Partial<ConnectorOptions> = {}): Promise<EndpointAgent> {
    const { cert: ca } = await testAuthority();
    const agent = createEndpointAgent({ allowPrivate: true, connectTimeoutMs: LONG, ca, ...options });
    this.onClose(() => agent.destroy());
    return agent;
  }

  async close(): Promise<void> {
    for (const cleanUp of this.#cleanups.splice(0).reverse()) await cleanUp();
  }
}

/** An attempt over an agent; without a body, so that a request is one chunk at its receiver. */
export async function send(agent: EndpointAgent, url: string, timeoutMs = LONG): Promise<AttemptResult> {
  const attempt = createAttempt({ agent, timeoutMs, now: Date.now, userAgent: 'test/1' });
  await nextTurn(); // a connection is free again one turn of the event loop after its response
  return attempt(requestTo(url));
}

export function requestTo(url: string): AttemptRequest {
  const { signal } = new AbortController();
  return { url, id: 'msg_1', body: Buffer.alloc(0), headers: [], secrets: [Buffer.alloc(32)], signal };
}

export function failure(error: string, status: number | null = null) {
  return { kind: 'retryable', error, status, retryAfterMs: null };
}

/** Writes for as long as somebody reads. */
export function writeForEver(socket: TLSSocket, text: string): void {
  const more = () => {
    while (socket.writable && socket.write(text));
  };
  socket.on('drain', more);
  more();
}
