import { constants } from 'node:crypto';
import { isIP, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  DEFAULT_CIPHERS,
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
  /** PEM; trusted in addition to the system's roots. */
  readonly ca?: string;
  /** PEM; the client's certificate and key for mutual TLS, both or none. */
  readonly cert?: string;
  readonly key?: string;
}

export interface ConnectorOptions extends Certificates {
  readonly allowPrivate: boolean;
  /** The operator's own denied ranges, which override everything else. Default: none. */
  readonly denied?: AddressRanges;
  /** From name resolution to the end of the TLS handshake, ms. */
  readonly connectTimeoutMs: number;
  /** Replaces the certificates. */
  readonly secureContext?: SecureContext;
  readonly lookup?: LookupAll;
  /** Called for each established connection. */
  readonly connected?: () => void;
}

const KEEP_ALIVE_PROBE_MS = 60_000;

/** Node's default of 250 ms per address gives up on hosts that are merely slow. */
const ATTEMPT_PER_ADDRESS_MS = 2000;

/**
 * Opens the TLS connections of the endpoint agent, only to checked addresses: each name is resolved once, here, and the
 * socket gets exactly the checked addresses; an IP literal, which sockets don't resolve, is checked beforehand. Never
 * uses a proxy.
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

  /** undici's connector: calls back once, with a connected socket or an error. */
  readonly connect: buildConnector.connector = (target, callback) => {
    if (isIP(target.hostname) !== 0 && !this.#isAllowed(target.hostname)) {
      queueMicrotask(() => callback(new EndpointForbidden(), null));
      return;
    }
    this.#open(target, callback);
  };

  /** When the socket that failed with this error was connected (performance.now()); undefined if never. */
  connectedAt(error: Error): number | undefined {
    return this.#connectedAt.get(error);
  }

  /** Ends connections in progress; the agent ends the established ones. */
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
      // Node only emits an error for an alert, for example that a client certificate is required (TLS 1.3). Without
      // this, undici would report the end that follows as the cause.
      socket.destroy(error);
    });
    socket.once('close', () => settle(failure('ECONNRESET'), null));
  }
}

/**
 * A handshake runs on the event loop, so a receiver must not choose what it costs. With DHE it chooses the modulus (8,192
 * bits: 240 ms), in TLS 1.3 it may choose ffdhe8192 (97 ms), and a renegotiation is a handshake without end. X25519
 * takes 1 ms.
 */
const CHEAP_HANDSHAKES = {
  ciphers: `${DEFAULT_CIPHERS}:!kDHE`,
  ecdhCurve: 'X25519:P-256:P-384',
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
};

/** Parses more than a hundred roots in 27 ms, so the agents of one process can share the context. */
export function secureContextOf({ ca, cert, key }: Certificates): SecureContext {
  return createSecureContext({
    ...CHEAP_HANDSHAKES,
    ...(ca === undefined ? {} : { ca: [...rootCertificates, ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

function failure(code: string): Error {
  return Object.assign(new Error(`connection failed: ${code}`), { code });
}
