/** An account's signing secrets, and which of them are active. */

/** A replaced signing secret still signs for this long, beside the new one: receivers switch in their own time. */
const REPLACED_SECRET_MS = 24 * 3_600_000;

export interface SealedSecret {
  readonly sealed: string;
  /** ISO 8601, UTC, ms. */
  readonly issuedAt: string;
}

/** @param replacedAt ms since the epoch, as is the result: from then on it no longer signs */
function signsUntil(replacedAt: number): number {
  return replacedAt + REPLACED_SECRET_MS;
}

/** ISO 8601, UTC, ms. @param issuedAt when the next one was issued */
export function previousEndsAt(issuedAt: string): string {
  return new Date(signsUntil(Date.parse(issuedAt))).toISOString();
}

/** @param time ms since the epoch @param secrets oldest first, as is the result */
export function signingAt(time: number, secrets: readonly SealedSecret[]): readonly SealedSecret[] {
  return secrets.filter((_, index) => {
    const next = secrets[index + 1];
    return !next || time < signsUntil(Date.parse(next.issuedAt));
  });
}
