/**
 * A failed attempt's code as shown to an account. Hazard: if the code distinguished an unresolvable name from a name
 * with a private address, an account could enumerate the names of our network. Logs and metrics distinguish the two.
 */
const OF_THE_HOST: ReadonlySet<string | null> = new Set(['dns', 'forbidden-address']);

/** Null after a complete response. */
export function shownFailure(code: string | null): string | null {
  return OF_THE_HOST.has(code) ? 'host' : code;
}
