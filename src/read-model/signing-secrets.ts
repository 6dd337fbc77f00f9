/** The signing secrets of an account, and which of them sign. */

/** A replaced signing secret still signs for this long, beside the new one: receivers take over in their own time. */
const REPLACED_SECRET_MS = 24 * 3_600_000;

export interface SealedSecret {
  readonly sealed: string;
  /** ISO 8601, UTC, ms. */
  readonly issuedAt: string;
}

/** @param replacedAt ms since the epoch, as the answer is: from then on it signs no more */
export function signsUntil(replacedAt: number): number {
  return replacedAt + REPLACED_SECRET_MS;
}

/** @param time ms since the epoch @param secrets oldest first, as the answer is */
export function signingAt(time: number, secrets: readonly SealedSecret[]): readonly SealedSecret[] {
  return secrets.filter((_, index) => {
    const next = secrets[index + 1];
    return !next || time < signsUntil(Date.parse(next.issuedAt));
  });
}
