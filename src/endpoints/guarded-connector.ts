import { constants } from 'node:crypto';
import { isIP, connect as openTcp, type Socket, type TcpNetConnectOpts } from 'node:net';
import {
  type ConnectionOptions,
  createSecureContext,
  DEFAULT_CIPHERS,
  type SecureContext,
  connect as secure,
  type TLSSocket,
} from 'node:tls';
import { LRUCache } from 'lru-cache';
import type { buildConnector } from 'undici';
import type { AddressRanges } from './address-ranges.js';
import { isPublicAddress } from './address-ranges.js';
import { findExpired } from './expired-certificate.js';
import type { NoticedError } from './failure.js';
import type { LookupFor } from './guarded-lookup.js';
import { EndpointForbidden, guardLookup, lookupAll } from './guarded-lookup.js';
import type { ReceivedLimit } from './received-limit.js';

interface Certificates {
  /** PEM; CAs, or certificates of receivers, trusted in addition to what the process trusts. */
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
  readonly lookup?: LookupFor;
  /** Called for each established connection, with the account for which it was made. */
  readonly connected?: (accountId: number, url: string) => void;
  /** Hosts whose TLS session is kept, and as many that are offered none for a while. Default: 1,000. */
  readonly mostSessions?: number;
}

export interface Connecting {
  /** For whom. */
  readonly accountId: number;
  readonly url: string;
  readonly limit: ReceivedLimit;
  readonly session: SessionUse;
}

/** avoid: a request failed on a new connection with a resumed session, so the host is offered none for a while. */
export type SessionUse = 'offer' | 'skip' | 'avoid';

/** A resumed session verifies no certificate: one that has expired is noticed within this time. */
const SESSION_MS = 600_000;
const WITHOUT_SESSION_MS = 3_600_000;
const MOST_SESSIONS = 1_000;
/** With the receiver's certificate and its ticket, both of a size that it chooses. */
const MOST_SESSION_BYTES = 8 * 1024;

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
  readonly #connected: (accountId: number, url: string) => void;
  readonly #tcp: Partial<TcpNetConnectOpts>;
  readonly #tls: ConnectionOptions;
  readonly #lookup: LookupFor;
  /** By host and port. */
  readonly #sessions: LRUCache<string, Buffer>;
  /** Hosts, by host and port, to which no session is offered for a while: a handshake or request failed with one. */
  readonly #withoutSession: LRUCache<string, true>;
  /** Ends a connection in progress. */
  readonly #connecting = new Set<(code: string) => void>();

  constructor(options: ConnectorOptions) {
    const {
      allowPrivate,
      denied,
      connectTimeoutMs,
      lookup = lookupAll,
      connected,
      mostSessions = MOST_SESSIONS,
      ...certificates
    } = options;
    this.#sessions = new LRUCache({ max: mostSessions, ttl: SESSION_MS });
    this.#withoutSession = new LRUCache({ max: mostSessions, ttl: WITHOUT_SESSION_MS });
    this.#timeoutMs = connectTimeoutMs;
    this.#connected = connected ?? (() => {});
    this.#isAllowed = (address) => (allowPrivate || isPublicAddress(address)) && !denied?.has(address);
    this.#tls = { secureContext: secureContextOf(certificates), ALPNProtocols: ['http/1.1'] };
    this.#tcp = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: ATTEMPT_PER_ADDRESS_MS };
    this.#lookup = lookup;
  }

  /** undici's connector: calls back once, with a connected socket or an error. */
  connect(target: buildConnector.Options, of: Connecting, callback: buildConnector.Callback): void {
    if (isIP(target.hostname) !== 0 && !this.#isAllowed(target.hostname)) {
      queueMicrotask(() => callback(new EndpointForbidden(), null));
      return;
    }
    this.#open(target, of, callback);
  }

  /** Ends connections in progress; the agent ends the established ones. */
  destroy(): void {
    for (const end of this.#connecting) end('UND_ERR_DESTROYED');
  }

  /** Repeats a handshake that fails with a session on offer, without it: within the same time, and unknown to the caller. */
  #open(target: buildConnector.Options, of: Connecting, callback: buildConnector.Callback): void {
    const key = `${target.hostname}:${target.port}`;
    if (of.session === 'avoid') this.#withoutSession.set(key, true);
    const end = (code: string) => socket.destroy(failure(code));
    const timer = setTimeout(() => end('ETIMEDOUT'), this.#timeoutMs);
    const settle: buildConnector.Callback = (...outcome) => {
      clearTimeout(timer);
      if (this.#connecting.delete(end)) callback(...outcome);
    };
    const settleOrRepeat: buildConnector.Callback = (...outcome) => {
      const [error] = outcome;
      if (error === null || !this.#connecting.has(end) || !isSessionToBlame(error)) return settle(...outcome);
      this.#withoutSession.set(key, true);
      start();
    };
    const start = () => {
      const tcp = this.#openTcp(target, of);
      socket = tcp;
      // Once TLS has begun, its socket reports what happens to this one.
      tcp.on('error', (error) => socket === tcp && settle(error, null));
      tcp.once('connect', () => {
        socket = this.#secure(tcp, target, of, settleOrRepeat);
      });
    };
    let socket: Socket;
    this.#connecting.add(end);
    start();
  }

  /** In two steps: the TCP socket counts every byte, the TLS socket only content. */
  #openTcp({ hostname, port }: buildConnector.Options, { accountId, limit }: Connecting): Socket {
    const lookup = guardLookup((...asked) => this.#lookup(...asked, accountId), this.#isAllowed);
    const tcp = openTcp({ ...this.#tcp, lookup, host: hostname, port: port === '' ? 443 : Number(port) });
    limit.watchTcp(tcp.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_PROBE_MS));
    return tcp;
  }

  #secure(
    tcp: Socket,
    { hostname, port }: buildConnector.Options,
    { accountId, url, limit, session: use }: Connecting,
    settle: buildConnector.Callback,
  ): TLSSocket {
    const key = `${hostname}:${port}`;
    const isOffered = use === 'offer' && !this.#withoutSession.has(key);
    const session = isOffered ? this.#sessions.get(key) : undefined;
    const servername = isIP(hostname) === 0 ? hostname : ''; // RFC 6066: no IP address in SNI
    const socket = secure({ ...this.#tls, socket: tcp, host: hostname, servername, ...(session && { session }) });
    let isSettled = false;
    const settleOnce = (error: NoticedError | null) => {
      if (isSettled) return;
      isSettled = true;
      if (error) this.#failedHandshake(key, error, session !== undefined);
      settle(...(error ? ([error, null] as const) : ([null, socket] as const)));
    };
    limit.watch(socket);
    noticeCertificates(socket);
    socket.once('secureConnect', () => {
      limit.isResumed = socket.isSessionReused();
      this.#connected(accountId, url);
      settleOnce(null);
    });
    socket.once('session', (given) => {
      // A resumed one keeps its end: else a name that gets a payment every few minutes would never be verified again.
      const noUpdateTTL = socket.isSessionReused();
      if (given.length <= MOST_SESSION_BYTES) this.#sessions.set(key, given, { noUpdateTTL });
    });
    socket.on('error', (error) => {
      settleOnce(error);
      // Node only emits an error for an alert, for example that a client certificate is required (TLS 1.3). Without
      // this, undici would report the end that follows as the cause.
      socket.destroy(error);
    });
    socket.once('close', () => settleOnce(failure('ECONNRESET')));
    return socket;
  }

  /** One that never ends costs no CPU, and looks like a host that does not answer. */
  #failedHandshake(key: string, error: NoticedError, offeredSession: boolean): void {
    this.#sessions.delete(key);
    if (offeredSession) error.offeredSession = true;
    if (error.code !== 'ETIMEDOUT') error.inHandshake = true;
    // Too late for another try, but the next attempt offers none.
    else if (offeredSession) this.#withoutSession.set(key, true);
  }
}

/** Not if the receiver has sent its certificate: then it did not resume the session. */
function isSessionToBlame({ inHandshake, offeredSession, hasCertificate, code }: NoticedError): boolean {
  return inHandshake === true && offeredSession === true && !hasCertificate && code !== 'UND_ERR_DESTROYED';
}

/** Adds to a handshake's error what is known of the receiver's certificate: Node drops it when it destroys the socket. */
function noticeCertificates(socket: TLSSocket): void {
  const destroy = socket.destroy;
  const forget = () => {
    socket.destroy = destroy;
  };
  socket.destroy = (error?: NoticedError) => {
    forget();
    const certificate = error && socket.getPeerX509Certificate();
    if (certificate) {
      Object.assign(error, { hasCertificate: true, isLeafAlone: !certificate.issuerCertificate });
      if (error.code === 'CERT_HAS_EXPIRED') error.expiredCertificate = findExpired(certificate, Date.now());
    }
    return destroy.call(socket, error);
  };
  socket.once('secureConnect', forget);
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

/**
 * Each certificate of `ca` is trusted, self-signed or not, as in Go and curl. The option `ca` would replace what the
 * process trusts (--use-openssl-ca, --use-system-ca), and parse the public CAs anew: 20 ms instead of 1. Hazard:
 * addCACert, which that option calls, is undocumented.
 */
function secureContextOf({ ca, cert, key }: Certificates): SecureContext {
  const secureContext = createSecureContext({
    ...CHEAP_HANDSHAKES,
    allowPartialTrustChain: ca !== undefined,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  if (ca !== undefined) secureContext.context.addCACert(ca);
  return secureContext;
}

function failure(code: string): Error {
  return Object.assign(new Error(`connection failed: ${code}`), { code });
}
