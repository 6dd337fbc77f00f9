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
    const { webhooks, notices } = states['account-webhooks'];
    // Headers of inactive ones too: GET shows them.
    const headers = [...webhooks, ...(notices ? [notices] : [])].flatMap((one) => one.headers);
    for (const { sealed } of [...signingAt(time, signingSecrets), ...headers]) yield { stream, sealed };
  }
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
