/** Why no status came: stable codes for the API, the deliveries topic, dead letters and logs. */

import type { AttemptCauses } from './attempt-causes.js';
import type { ExpiredCertificate } from './expired-certificate.js';

export type FailureReason = keyof AttemptCauses['reasons'];
/** The step of an attempt that failed. */
export type Phase = 'connecting' | 'handshake' | 'waiting-for-headers';
type TlsReason = Exclude<FailureReason, Phase | 'not-http' | 'too-much'>;

/** `reason` is the cause of `error`; null if unknown or confidential. */
export type Failure =
  | { readonly error: 'timeout' | 'connection-reset'; readonly reason: Phase }
  | {
      readonly error: 'tls';
      readonly reason: TlsReason | null;
      readonly expiredCertificate?: ExpiredCertificate;
    }
  | { readonly error: 'invalid-response'; readonly reason: 'not-http' | 'no-http1' | 'too-much' }
  | {
      readonly error: 'connection-refused' | 'dns' | 'forbidden-address' | 'network';
      /** Hazard: a cause would tell an account which names of our network exist. */
      readonly reason: null;
    };

export type FailureCode = Failure['error'];

const EACH: Readonly<Record<FailureCode, true>> = {
  timeout: true,
  'connection-refused': true,
  'connection-reset': true,
  tls: true,
  dns: true,
  'forbidden-address': true,
  'invalid-response': true,
  network: true,
};
export const FAILURE_CODES = Object.keys(EACH) as FailureCode[];

/**
 * A failed attempt's codes as shown to an account. Hazard: if the code distinguished an unresolvable name from a name
 * with a private address, an account could enumerate the names of our network. Logs and metrics distinguish the two.
 */
const OF_THE_HOST: readonly string[] = ['dns', 'forbidden-address'];

interface Failed {
  /** Null if a status came. */
  readonly error: string | null;
  readonly reason?: string | null | undefined;
}

export function shownFailure<T extends Failed>(attempt: T): T {
  return attempt.error !== null && OF_THE_HOST.includes(attempt.error)
    ? { ...attempt, error: 'host', reason: null }
    : attempt;
}

/** The codes of attempts that are shown with this code. */
export function codesShownAs(shown: string): readonly string[] {
  if (shown === 'host') return OF_THE_HOST;
  return OF_THE_HOST.includes(shown) ? [] : [shown];
}

const CODES: readonly (readonly [RegExp, FailureCode])[] = [
  [/^ENDPOINT_FORBIDDEN$/, 'forbidden-address'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  [/^ECONNREFUSED$/, 'connection-refused'],
  [/^(ECONNRESET|EPIPE)$/, 'connection-reset'],
  [/^(ENOTFOUND|ENODATA|EAI_\w+)$/, 'dns'],
  [/^RECEIVED_TOO_MUCH$/, 'invalid-response'],
  // undici's parser fails an assertion for some invalid responses.
  [/^(UND_ERR_RES_\w+|ERR_ASSERTION)$/, 'invalid-response'],
  // OpenSSL's own codes, and its names for certificate errors, which share no prefix.
  [/^(ERR_SSL|ERR_TLS|EPROTO)|CERT|ISSUER|LEAF_SIGNATURE|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH/, 'tls'],
];

const TLS_REASONS: readonly (readonly [RegExp, TlsReason])[] = [
  [/^CERT_HAS_EXPIRED$/, 'certificate-expired'],
  [/^CERT_NOT_YET_VALID$/, 'certificate-not-yet-valid'],
  [/^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/, 'certificate-other-name'],
  [/^DEPTH_ZERO_SELF_SIGNED_CERT$/, 'certificate-self-signed'],
  [
    /^(SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|CERT_SIGNATURE_FAILURE)$/,
    'certificate-unknown-issuer',
  ],
  // OpenSSL reports it only for a chain of one certificate that is not self-signed.
  [/^UNABLE_TO_VERIFY_LEAF_SIGNATURE$/, 'intermediate-missing'],
  [/_ALERT_(CERTIFICATE_|(NO|BAD|UNSUPPORTED)_CERTIFICATE$|UNKNOWN_CA$)/, 'client-certificate-required'],
  [/_ALERT_NO_APPLICATION_PROTOCOL$/, 'no-http1'],
  [/_(ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|WRONG_SSL_VERSION)$/, 'protocol-version'],
  [/_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|HTTPS_PROXY_REQUEST)$/, 'not-tls'],
  [/_ALERT_HANDSHAKE_FAILURE$/, 'no-common-cipher'],
];

/** An error of a connection, with the connector's observations. */
export interface NoticedError extends NodeJS.ErrnoException {
  /** The TLS handshake failed, other than by a timeout. */
  inHandshake?: true;
  /** The handshake offered to resume a session. */
  offeredSession?: true;
  /** The receiver had sent its certificate without that of the issuer. */
  isLeafAlone?: boolean;
  /** The receiver had sent its certificate. */
  hasCertificate?: boolean;
  /** Of CERT_HAS_EXPIRED. */
  expiredCertificate?: ExpiredCertificate | null;
}

/** Translates errors of OpenSSL, Node and undici. @param began what was received since the request was sent */
export function failureOf(error: NoticedError, phase: Phase, began: string): Failure {
  const code = failureCodeOf(error);
  switch (code) {
    case 'timeout':
    case 'connection-reset':
      return { error: code, reason: phase };
    case 'tls':
      return { error: code, reason: tlsReasonOf(error), ...expiredOf(error) };
    case 'invalid-response':
      if (codeOf(error) === 'RECEIVED_TOO_MUCH') return { error: code, reason: 'too-much' };
      return { error: code, reason: isHttp2(began) ? 'no-http1' : 'not-http' };
    default:
      return { error: code, reason: null };
  }
}

/** Whether the agent itself was closed, which says nothing about the endpoint. */
export function isShutdown(error: Error): boolean {
  return codeOf(error) === 'UND_ERR_DESTROYED' || codeOf(error) === 'UND_ERR_CLOSED';
}

/** Descriptors or memory of this machine: no socket could be opened. */
export function isShortage(error: Error): boolean {
  return /^(EMFILE|ENFILE|ENOBUFS|ENOMEM|EAI_MEMORY)$/.test(codeOf(error));
}

/** Also one that the receiver reset, and an alert that came after it (TLS 1.3). */
export function isHandshakeFailure(error: NoticedError): boolean {
  return error.inHandshake === true || failureCodeOf(error) === 'tls';
}

function failureCodeOf(error: Error): FailureCode {
  const code = codeOf(error);
  // This error has no code, whatever undici's documentation says.
  if (error.name === 'HTTPParserError') return 'invalid-response';
  // undici uses one code both for a closed connection and for a response it can't process (100, 101).
  if (code === 'UND_ERR_SOCKET') return error.message.startsWith('bad ') ? 'invalid-response' : 'connection-reset';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'network';
}

function tlsReasonOf(error: NoticedError): TlsReason | null {
  const reason = TLS_REASONS.find(([pattern]) => pattern.test(codeOf(error)))?.[1] ?? null;
  if (reason === 'certificate-unknown-issuer' && error.isLeafAlone) return 'intermediate-missing';
  // TLS 1.2 has one alert for both: before the certificate no cipher is shared, after it ours is missing.
  if (reason === 'no-common-cipher' && error.hasCertificate) return 'client-certificate-required';
  return reason;
}

function expiredOf({ expiredCertificate }: NoticedError) {
  return expiredCertificate ? { expiredCertificate } : {};
}

/** SETTINGS and GOAWAY. */
const HTTP2_TYPES: ReadonlySet<string | undefined> = new Set(['\x04', '\x07']);

/** A frame of stream 0 (RFC 9113, section 4.1). */
function isHttp2(began: string): boolean {
  return HTTP2_TYPES.has(began[3]) && began.slice(5, 9) === '\0\0\0\0';
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? '';
}
