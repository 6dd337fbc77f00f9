/** Why no status came: stable codes for the API, the deliveries topic, dead letters and logs. */

/** The step of an attempt that failed. */
export type Phase = 'connecting' | 'handshake' | 'waiting-for-headers';

type TlsReason =
  | 'certificate-expired'
  | 'certificate-not-yet-valid'
  | 'certificate-other-name'
  | 'certificate-self-signed'
  | 'certificate-unknown-issuer'
  | 'intermediate-missing'
  | 'client-certificate-required'
  | 'no-common-cipher'
  | 'no-http1'
  | 'not-tls'
  | 'protocol-version';

/** `reason` is the cause of `error`; null if unknown or confidential. */
export type Failure =
  | { readonly error: 'timeout' | 'connection-reset'; readonly reason: Phase }
  | { readonly error: 'tls'; readonly reason: TlsReason | null }
  | { readonly error: 'invalid-response'; readonly reason: 'not-http' | 'no-http1' | 'too-much' }
  | {
      readonly error: 'connection-refused' | 'dns' | 'forbidden-address' | 'network';
      /** Hazard: a cause would tell an account which names of our network exist. */
      readonly reason: null;
    };

export type FailureCode = Failure['error'];
export type FailureReason = NonNullable<Failure['reason']>;

const CODES: Readonly<Record<FailureCode, true>> = {
  timeout: true,
  'connection-refused': true,
  'connection-reset': true,
  tls: true,
  dns: true,
  'forbidden-address': true,
  'invalid-response': true,
  network: true,
};
export const FAILURE_CODES = Object.keys(CODES) as FailureCode[];

/** Each as the rest of a sentence about the receiver. */
export const FAILURE_REASONS: Readonly<Record<FailureReason, string>> = {
  connecting: 'no connection was established',
  handshake: 'the TLS handshake was not completed',
  'waiting-for-headers': 'the request was sent, and no status line came',
  'certificate-expired': 'its certificate has expired',
  'certificate-not-yet-valid': 'its certificate is not valid yet',
  'certificate-other-name': 'its certificate is for other names',
  'certificate-self-signed': 'its certificate is self-signed',
  'certificate-unknown-issuer': 'its certificate chain ends at an authority that is not trusted',
  'intermediate-missing': 'it sent its certificate without that of the issuer',
  'client-certificate-required': 'it demands a client certificate that it trusts',
  'no-common-cipher': 'it supports none of the cipher suites and key exchanges that were offered',
  'no-http1': 'it speaks HTTP/2 but not HTTP/1.1',
  'not-tls': 'it does not speak TLS on this port',
  'protocol-version': 'it supports neither TLS 1.2 nor TLS 1.3',
  'not-http': 'its response does not begin with a status line',
  'too-much': 'it sent more than is read before a status line',
};
