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
