/**
 * A failed attempt's codes as shown to an account. Hazard: if the code distinguished an unresolvable name from a name
 * with a private address, an account could enumerate the names of our network. Logs and metrics distinguish the two.
 */
const OF_THE_HOST: ReadonlySet<string | null> = new Set(['dns', 'forbidden-address']);

interface Failed {
  /** Null if a status came. */
  readonly error: string | null;
  readonly reason?: string | null;
}

export function shownFailure<T extends Failed>(attempt: T): T {
  return OF_THE_HOST.has(attempt.error) ? { ...attempt, error: 'host', reason: null } : attempt;
}
