/** Why there is no connection to a server that a setting names, and what mends that. */

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

interface Trouble {
  /** Matches codes of Node.js and OpenSSL, and messages where there is no code or gRPC passes on only these. */
  readonly sign: RegExp;
  readonly isLasting: boolean;
  /** @param code in brackets, or empty @param host that was looked up, if the error names it */
  readonly says: (server: Server, code: string, host?: string) => string;
}

/** A proxy in front of a server that starts closes connections, or answers them itself: then it passes. */
const passing = (sign: RegExp, says: Trouble['says']): Trouble => ({ sign, isLasting: false, says });
const lasting = (sign: RegExp, says: Trouble['says']): Trouble => ({ sign, isLasting: true, says });

/** The first that fits counts. */
const TROUBLES: readonly Trouble[] = [
  passing(/ENOTFOUND|EAI_|Name resolution failed/, ({ name, url }, code, host) => {
    return `${host ? `the name ${host}` : 'a name'} of ${name} does not resolve${code}: see ${url}`;
  }),
  passing(/ECONNREFUSED/, ({ name, url }, code) => `nothing listens at an address of ${name}${code}: see ${url}`),
  passing(
    /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long/,
    ({ name, tls }, code) => `${name} speaks no TLS at this port${code}: ${tls.off}`,
  ),
  passing(
    /before secure TLS connection/,
    ({ name, tls }, code) =>
      `${name} closed the connection during the TLS handshake${code}: if that goes on, it speaks no TLS at this port: ${tls.off}`,
  ),
  passing(/TLS_ANSWER/, ({ name, tls }, code) => `${name} speaks TLS at this port${code}: ${tls.on}`),
  passing(
    /TLS_CLOSED/,
    ({ name, clientCertificate }, code) =>
      `${name} closed the connection after the TLS handshake${code}: if that goes on, it demands a client certificate (see ${clientCertificate}) or credentials`,
  ),
  passing(
    /ConnectionClosed|UND_ERR_SOCKET|socket hang up|Last error: (Failed to connect|Protocol error)/,
    ({ name, tls }, code) =>
      `${name} closed the connection without an answer${code}: if that goes on, it expects TLS (${tls.on}) or credentials`,
  ),
  lasting(
    /PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|protocol version/,
    ({ name }, code) => `${name} and this process have no version of TLS in common${code}: allow TLS 1.2 or 1.3 there`,
  ),
  // Alerts of the server about the certificate that it got, or did not get.
  lasting(
    /alert[_ ]((no|bad|unsupported)[_ ])?(certificate|unknown[_ ]ca|handshake[_ ]failure|access[_ ]denied)/i,
    ({ name, clientCertificate }, code) =>
      `${name} does not accept the client certificate, or that there is none${code}: see ${clientCertificate}`,
  ),
  lasting(
    /ALTNAME/,
    ({ name, url }, code) => `${name}'s certificate lacks the name that was asked for${code}: see ${url}`,
  ),
  lasting(
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|certificate has expired|certificate is not yet valid/,
    ({ name }, code) => `${name}'s certificate is not valid now${code}: renew it, or correct the clock`,
  ),
  lasting(
    /CERT|SELF_SIGNED|UNABLE_TO_|INVALID_(CA|PURPOSE)|PATH_LENGTH|ERR_TLS|certificate|self[- ]signed/,
    ({ name, trust }, code) => `${name}'s certificate was not accepted${code}: see ${trust}`,
  ),
];

/** In messages of Node.js and of gRPC. */
const LOOKED_UP = /(?:getaddrinfo \w+ |target dns:)([^\s:]+)/;

/**
 * @param sign code and message of an error, as far as it has them
 * @param code shown in the sentence; empty: none
 * @returns null if it says nothing about the connection
 */
export function explainedTrouble(sign: string, code: string, server: Server): Explained | null {
  const trouble = TROUBLES.find((one) => one.sign.test(sign));
  const [, host] = LOOKED_UP.exec(sign) ?? [];
  return trouble ? { says: trouble.says(server, code && ` (${code})`, host), isLasting: trouble.isLasting } : null;
}
