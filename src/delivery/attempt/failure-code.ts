/** Why no HTTP response came in full: short and stable, for logs, the deliveries topic and the API. */
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
  // OpenSSL's own, and its names of what is wrong with a certificate, which have no prefix in common.
  [/^(ERR_SSL|ERR_TLS|EPROTO)|CERT|ISSUER|LEAF_SIGNATURE|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH/, 'tls'],
];

/** Names an error of a connection, of node:net, node:tls, node:dns or undici, by its code. */
export function failureCodeOf(error: Error): FailureCode {
  const code = codeOf(error);
  // Has no code, whatever undici's documentation says.
  if (error.name === 'HTTPParserError') return 'invalid-response';
  // undici has one code both for a connection that ended and for a response it can't take (100, 101).
  if (code === 'UND_ERR_SOCKET') return error.message.startsWith('bad ') ? 'invalid-response' : 'connection-reset';
  return CODES.find(([pattern]) => pattern.test(code))?.[1] ?? 'network';
}

/** Whether the agent itself was closed: nothing is known of the endpoint. */
export function isShutdown(error: Error): boolean {
  return codeOf(error) === 'UND_ERR_DESTROYED' || codeOf(error) === 'UND_ERR_CLOSED';
}

function codeOf(error: NodeJS.ErrnoException): string {
  return error.code ?? '';
}
