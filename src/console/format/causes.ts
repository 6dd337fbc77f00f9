/** Why an attempt failed, by its status or error. Pure. */

/** Cause and remedy. */
export type Cause = readonly [title: string, remedy: string];
/** By error, or by what a status stands for; unknown: of all others. */
export type Causes = Readonly<Record<string, Cause>> & { readonly unknown: Cause };

export function causeIn(causes: Causes, status: number | null, error: string | null): Cause {
  return causes[status === null ? (error ?? '') : kindOf(status)] ?? causes.unknown;
}

function kindOf(status: number): string {
  if (status < 400) return 'redirect';
  if (status >= 500) return 'broken';
  return { 401: 'auth', 403: 'auth', 404: 'missing', 410: 'gone', 429: 'busy' }[status] ?? 'refused';
}
