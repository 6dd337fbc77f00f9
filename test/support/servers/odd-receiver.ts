/** The kinds of receivers in odd-receivers.ts. */
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import type { AgentOptions } from '../../../src/endpoints/endpoint-agent.js';
import type { LookupAll } from '../../../src/endpoints/guarded-lookup.js';
import { type AttemptFixture, SHORT } from '../scenes/attempt-fixture.js';
import { makeAuthority, makeCertificate } from './certificate-maker.js';
import { type Certificate, certificateFor, testAuthority } from './certificates.js';

export interface OddReceiver {
  /** Of one row, what this one does. */
  readonly name: string;
  readonly url: string;
  readonly agent?: Partial<AgentOptions>;
  /** ms, without patience. Default: long. */
  readonly timeoutMs?: number;
  /** Of the request. Default: none. */
  readonly body?: Buffer;
}

export type Start = (fixture: AttemptFixture) => Promise<Omit<OddReceiver, 'name'>>;
/** The handshakes of all receivers of a row come before it. */
export const DEADLINE_MS = 2 * SHORT;
export const OK = 'HTTP/1.1 200 OK\r\n';
export const EMPTY = 'content-length: 0\r\n\r\n';

type Close = 'end' | 'tcp-end' | 'reset';

/** Answers each request with these bytes, and may close the connection after them. */
export function writes(bytes: string, close?: Close): Start {
  return scripted((socket, tcp) => {
    socket.write(bytes, 'latin1', () => close && closing(close, socket, tcp));
  });
}

export function writesApart(first: string, second: string): Start {
  return scripted((socket) => socket.write(first, 'latin1', () => setImmediate(() => socket.write(second, 'latin1'))));
}

/** Before anything of the request but its first bytes is read. */
export function early(close: Close): Start {
  return async (fixture) => {
    const server = createTlsServer(await certificateFor(), (socket) => socket.on('error', () => {}));
    server.on('connection', (tcp: Socket) => {
      server.once('secureConnection', (socket) => {
        socket.once('readable', () => {
          socket.write(`${OK}${EMPTY}`, () => closing(close, socket, tcp));
        });
      });
    });
    const { port } = await fixture.listening(server);
    return { url: local(port), body: Buffer.alloc(256 * 1_024, 'x') };
  };
}

function closing(close: Close, socket: TLSSocket, tcp: Socket): void {
  if (close === 'end') socket.end();
  else if (close === 'tcp-end') tcp.end();
  else tcp.resetAndDestroy();
}

export function scripted(answer: (socket: TLSSocket, tcp: Socket) => void): Start {
  return async (fixture) => {
    const server = createTlsServer(await certificateFor());
    let tcp: Socket;
    server.on('connection', (socket: Socket) => (tcp = socket));
    server.on('secureConnection', (socket) => {
      socket.on('error', () => {}).once('data', () => answer(socket, tcp));
    });
    return { url: local((await fixture.listening(server)).port) };
  };
}

export function plain(accept: (socket: Socket) => void, timeoutMs?: number): Start {
  return async (fixture) => {
    const { port } = await fixture.listening(createTcpServer(accept));
    return { url: local(port), ...(timeoutMs !== undefined && { timeoutMs }) };
  };
}

/** Its attempt ends at a deadline. */
export function late(start: Start): Start {
  return async (fixture) => ({ ...(await start(fixture)), timeoutMs: DEADLINE_MS });
}

/** A TLS server that never gets as far as a request. */
export function shows(certificate: () => Promise<Certificate>, options: TlsOptions = {}): Start {
  return async (fixture) => {
    const server = createTlsServer({ ...(await certificate()), ...options });
    server.on('tlsClientError', () => {}).on('secureConnection', (socket) => socket.on('error', () => {}));
    return { url: local((await fixture.listening(server)).port) };
  };
}

export function demandsCertificate(version: 'TLSv1.2' | 'TLSv1.3'): Start {
  return async (fixture) => {
    const { cert: ca } = await testAuthority();
    const required = { requestCert: true, rejectUnauthorized: true, ca };
    return shows(certificateFor, { ...required, minVersion: version, maxVersion: version })(fixture);
  };
}

/** Of an authority that nobody trusts. */
export async function chain(name = 'Unknown CA') {
  const root = await makeAuthority(name);
  const issuer = await makeAuthority('Issuing CA', root);
  return { root, issuer, leaf: await makeCertificate(issuer, ['localhost']) };
}

export function lookupOf(error: NodeJS.ErrnoException | null): LookupAll {
  return (_host, _options, callback) => callback(error, error ? [] : [{ address: '127.0.0.1', family: 4 }]);
}

export function local(port: number): string {
  return `https://localhost:${port}/`;
}
