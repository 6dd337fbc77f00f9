/** Why there is no connection to a server that a setting names, and what mends that. */

type Trouble =
  | 'unknown-name'
  | 'not-listening'
  | 'no-tls'
  | 'handshake-cut'
  | 'needs-tls'
  | 'closed'
  | 'closed-secure'
  | 'client-certificate'
  | 'tls-version'
  | 'other-name'
  | 'expired'
  | 'untrusted';

/** Codes of Node.js and OpenSSL, and messages where there is no code or gRPC passes on only these. The first that fits counts. */
const SIGNS: readonly (readonly [Trouble, RegExp])[] = [
  ['unknown-name', /ENOTFOUND|EAI_|Name resolution failed/],
  ['not-listening', /ECONNREFUSED/],
  ['no-tls', /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long/],
  ['handshake-cut', /before secure TLS connection/],
  ['needs-tls', /TLS_ANSWER/],
  ['closed-secure', /TLS_CLOSED/],
  ['closed', /ConnectionClosed|UND_ERR_SOCKET|socket hang up|Last error: (Failed to connect|Protocol error)/],
  ['tls-version', /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|protocol version/],
  // Alerts of the server about the certificate that it got, or did not get.
  [
    'client-certificate',
    /ALERT_\w*(CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE|ACCESS_DENIED)|alert .*(certificate|unknown ca|handshake failure)/,
  ],
  ['other-name', /ALTNAME/],
  ['expired', /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|certificate has expired|certificate is not yet valid/],
  ['untrusted', /CERT|SELF_SIGNED|UNABLE_TO_|INVALID_(CA|PURPOSE)|PATH_LENGTH|ERR_TLS|certificate|self[- ]signed/],
];

/** A server, and the settings that decide how to connect to it. */
export interface Server {
  readonly name: string;
  /** The setting with its address. */
  readonly url: string;
  /** Whose certificates are trusted, and where that is set. */
  readonly trust: string;
  /** How to turn TLS on and off. */
  readonly tls: { readonly on: string; readonly off: string };
  /** Where a client certificate is set. */
  readonly clientCertificate: string;
}

export interface Explained {
  /** A sentence with the remedy. */
  readonly says: string;
  /** Trying again doesn't help. */
  readonly isLasting: boolean;
}

/**
 * @param sign code and message of an error, as far as it has them
 * @param code shown in the sentence; empty: none
 * @returns null if it says nothing about the connection
 */
export function explainedTrouble(sign: string, code: string, server: Server): Explained | null {
  const [trouble] = SIGNS.find(([, pattern]) => pattern.test(sign)) ?? [];
  const [, host] = LOOKED_UP.exec(sign) ?? [];
  return trouble ? { says: sentence(trouble, code, { ...server, host }), isLasting: LASTING.has(trouble) } : null;
}

/** In messages of Node.js and of gRPC. */
const LOOKED_UP = /(?:getaddrinfo \w+ |target dns:)([^\s:]+)/;

/** All others may pass: a proxy in front of a server that starts closes connections, or answers them itself. */
const LASTING: ReadonlySet<Trouble> = new Set<Trouble>([
  'client-certificate',
  'tls-version',
  'other-name',
  'expired',
  'untrusted',
]);

function sentence(trouble: Trouble, code: string, server: Server & { host?: string | undefined }): string {
  const { name, url, trust, tls, clientCertificate, host } = server;
  const shown = code && ` (${code})`;
  switch (trouble) {
    case 'unknown-name':
      return `${host ? `the name ${host}` : 'a name'} of ${name} does not resolve${shown}: see ${url}`;
    case 'not-listening':
      return `nothing listens at an address of ${name}${shown}: see ${url}`;
    case 'no-tls':
      return `${name} speaks no TLS at this port${shown}: ${tls.off}`;
    case 'handshake-cut':
      return `${name} closed the connection during the TLS handshake${shown}: if that goes on, it speaks no TLS at this port: ${tls.off}`;
    case 'needs-tls':
      return `${name} speaks TLS at this port${shown}: ${tls.on}`;
    case 'closed':
      return `${name} closed the connection without an answer${shown}: if that goes on, it expects TLS (${tls.on}) or credentials`;
    case 'closed-secure':
      return `${name} closed the connection after the TLS handshake${shown}: if that goes on, it demands a client certificate (see ${clientCertificate}) or credentials`;
    case 'client-certificate':
      return `${name} does not accept the client certificate, or that there is none${shown}: see ${clientCertificate}`;
    case 'tls-version':
      return `${name} and this process have no version of TLS in common${shown}: allow TLS 1.2 or 1.3 there`;
    case 'other-name':
      return `${name}'s certificate lacks the name that was asked for${shown}: see ${url}`;
    case 'expired':
      return `${name}'s certificate is not valid now${shown}: renew it, or correct the clock`;
    case 'untrusted':
      return `${name}'s certificate was not accepted${shown}: see ${trust}`;
    default:
      return trouble satisfies never;
  }
}
