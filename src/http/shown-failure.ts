/**
 * A failed attempt's code as an account sees it. Hazard: to tell a name that does not resolve from one that leads to a
 * private address would let an account list the names of our network. Logs and metrics keep the two apart.
 */
const OF_THE_HOST: ReadonlySet<string | null> = new Set(['dns', 'forbidden-address']);

/** Null where the response came in full. */
export function shownFailure(code: string | null): string | null {
  return OF_THE_HOST.has(code) ? 'host' : code;
}
