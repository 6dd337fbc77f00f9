import { isIP, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressRanges } from './address-ranges.js';
import { isPublicAddress } from './address-rules.js';
import { EndpointForbidden } from './endpoint-forbidden.js';
import { limitReceived } from './received-limit.js';
import { guardLookup, type LookupAll, lookupAll } from './resolve.js';

export interface Certificates {
  /** PEM; trusted beside the system's roots. */
  readonly ca?: string;
  /** PEM; the client's certificate and key for mutual TLS, both or none. */
  readonly cert?: string;
  readonly key?: string;
}

export interface ConnectorOptions extends Certificates {
  readonly allowPrivate: boolean;
  /** Of the operator, whatever else is allowed; none without it. */
  readonly denied?: AddressRanges;
  /** From the name's resolution to the end of the TLS handshake, ms. */
  readonly connectTimeoutMs: number;
  /** In place of the certificates. */
  readonly secureContext?: SecureContext;
  readonly lookup?: LookupAll;
  /** Called for each connection that was made. */
  readonly connected?: () => void;
}

const KEEP_ALIVE_PROBE_MS = 60_000;

/** Node's 250 ms for each address of a host gives up on hosts that are merely slow. */
const ATTEMPT_PER_ADDRESS_MS = 2000;

/**
 * Opens the TLS connections of the endpoint agent, and only to addresses it has judged: a name is resolved once, here,
 * and the socket is given the very addresses that were looked at; an IP literal, which sockets don't resolve, is judged
 * before. No proxy is ever used.
 */
export class GuardedConnector {
  readonly #timeoutMs: number;
  readonly #isAllowed: (address: string) => boolean;
  readonly #connected: () => void;
  readonly #base: ConnectionOptions & Partial<TcpNetConnectOpts>;
  readonly #connecting = new Set<TLSSocket>();
  readonly #connectedAt = new WeakMap<Error, number>();

  constructor({ allowPrivate, denied, connectTimeoutMs, lookup = lookupAll, connected, ...trust }: ConnectorOptions) {
    const { secureContext, ...certificates } = trust;
    this.#timeoutMs = connectTimeoutMs;
    this.#connected = connected ?? (() => {});
    this.#isAllowed = (address) => (allowPrivate || isPublicAddress(address)) && !denied?.has(address);
    this.#base = {
      secureContext: secureContext ?? secureContextOf(certificates),
      ALPNProtocols: ['http/1.1'],
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ATTEMPT_PER_ADDRESS_MS,
      lookup: guardLookup(lookup, this.#isAllowed),
    };
  }

  /** undici's connector: calls back with a connected socket, or with the error, once. */
  readonly connect: buildConnector.connector = (target, callback) => {
    if (isIP(target.hostname) !== 0 && !this.#isAllowed(target.hostname)) {
      queueMicrotask(() => callback(new EndpointForbidden(), null));
      return;
    }
    this.#open(target, callback);
  };

  /** When the socket that the error ended was connected (performance.now()); undefined where it never was. */
  connectedAt(error: Error): number | undefined {
    return this.#connectedAt.get(error);
  }

  /** Ends what is not connected yet; the agent ends what is. */
  destroy(): void {
    for (const socket of this.#connecting) socket.destroy(failure('UND_ERR_DESTROYED'));
  }

  #open({ hostname, port }: buildConnector.Options, callback: buildConnector.Callback): void {
    const socket = connect({
      ...this.#base,
      host: hostname,
      port: port === '' ? 443 : Number(port),
      servername: isIP(hostname) === 0 ? hostname : '', // RFC 6066: no IP address in SNI
    });
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_PROBE_MS);
    this.#connecting.add(socket);
    const timer = setTimeout(() => socket.destroy(failure('ETIMEDOUT')), this.#timeoutMs);
    const settle = (...outcome: Parameters<buildConnector.Callback>) => {
      clearTimeout(timer);
      if (this.#connecting.delete(socket)) callback(...outcome);
    };
    let connectedAt: number | undefined;
    socket.once('secureConnect', () => {
      connectedAt = performance.now();
      this.#connected();
      limitReceived(socket);
      settle(null, socket);
    });
    socket.on('error', (error) => {
      if (connectedAt !== undefined) this.#connectedAt.set(error, connectedAt);
      settle(error, null);
      // An alert, say that a client certificate is required (TLS 1.3), is only told of: left alone, undici would take the
      // end that follows for what went wrong.
      socket.destroy(error);
    });
    socket.once('close', () => settle(failure('ECONNRESET'), null));
  }
}

/** Parses a hundred and more roots, in 27 ms: agents of one process can share it. */
export function secureContextOf({ ca, cert, key }: Certificates): SecureContext {
  return createSecureContext({
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

function failure(code: string): Error {
  return Object.assign(new Error(`connection failed: ${code}`), { code });
}
