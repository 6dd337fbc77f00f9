/** Why there is no complete HTTP response: short, stable codes for logs, the deliveries topic and the API. */
export const FAILURE_CODES = [
  'timeout',
  'connection-refused',
  'connection-reset',
  'tls',
  'dns',
  'forbidden-address',
  'invalid-response',
  'network',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

const CODES: readonly (readonly [RegExp, FailureCode])[] = [
  [/^ENDPOINT_FORBIDDEN$/, 'forbidden-address'],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  [/^ECONNREFUSED$/, 'connection-refused'],
  [/^(ECONNRESET|EPIPE)$/, 'connection-reset'],
  [/^(ENOTFOUND|ENODATA|EAI_\w+)$/, 'dns'],
  [/^(UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES_\w+|RECEIVED_TOO_MUCH)$/, 'invalid-response'],
  // OpenSSL's own codes, and its names for certificate errors, which share no prefix.
  [/^(ERR_SSL|ERR_TLS|EPROTO)|CERT|ISSUER|LEAF_SIGNATURE|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH/, 'tls'],
];

/** Maps an error of a connection, node:net, node:tls, node:dns or undici to a failure code, by the error's code. */
export function failureCodeOf(error: Error): FailureCode {
  const code = codeOf(error);
  // This error has no code, whatever undici's documentation says.
  if (error.name === 'HTTPParserError') return 'invalid-response';
  // undici uses one code both for a closed connection and for a response it can't process (100, 101).
  if (code === 'UND_ERR_SOCKET') return error.message.startsWith('bad ') ? 'invalid-response' : 'connection-reset';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'network';
}

/** Whether the agent itself was closed, which says nothing about the endpoint. */
export function isShutdown(error: Error): boolean {
  return codeOf(error) === 'UND_ERR_DESTROYED' || codeOf(error) === 'UND_ERR_CLOSED';
}

/** Also one that the receiver reset, and an alert that came after it (TLS 1.3). */
export function isHandshakeFailure(error: Error): boolean {
  return 'inHandshake' in error || failureCodeOf(error) === 'tls';
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? '';
}
