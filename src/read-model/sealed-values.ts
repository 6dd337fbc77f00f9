/** Every sealed value that the service must open: headers of webhooks and notices, and the active signing secrets, which this file knows. */
import type { AccountState, SealedSecret } from '../webhooks/state.js';
import type { AccountStates } from './account-states.js';

export interface SealedValue {
  readonly stream: string;
  readonly sealed: string;
}

/** As far as folded here. @param time ms since the epoch */
export function* sealedValues(accounts: Pick<AccountStates<AccountState>, 'all'>, time: number): Iterable<SealedValue> {
  for (const [stream, states] of accounts.all()) {
    const { signingSecrets } = states['account-credentials'];
    for (const sealed of sealedIn(signingAt(time, signingSecrets))) yield { stream, sealed };
    const { webhooks, notices } = states['account-webhooks'];
    // Headers of inactive ones too: GET shows them.
    for (const { headers } of notices ? [...webhooks, notices] : webhooks) {
      for (const sealed of sealedIn(headers)) yield { stream, sealed };
    }
  }
}

/** An incomplete event affects only its own account; here it is skipped. */
function sealedIn(entries: readonly { readonly sealed?: string }[]): readonly string[] {
  return Array.isArray(entries) ? entries.map((entry) => entry?.sealed).filter((text) => typeof text === 'string') : [];
}

/** A replaced signing secret still signs for this long, beside the new one: receivers switch in their own time. */
const REPLACED_SECRET_MS = 24 * 3_600_000;

/** When a secret signs no longer; ISO 8601, UTC, ms. @param issuedAt when the next one was issued */
export function previousEndsAt(issuedAt: string): string {
  return new Date(Date.parse(issuedAt) + REPLACED_SECRET_MS).toISOString();
}

/** @param time ms since the epoch @param secrets oldest first, as is the result */
export function signingAt(time: number, secrets: readonly SealedSecret[]): readonly SealedSecret[] {
  return secrets.filter((_, index) => {
    const next = secrets[index + 1];
    return !next || time < Date.parse(next.issuedAt) + REPLACED_SECRET_MS;
  });
}
