/** Every sealed value that the service must open: headers of webhooks and notices, and the active signing secrets. */
import type { AccountStates } from './account-states.js';
import type { AccountState } from './accounts.js';
import { signingAt } from './signing-secrets.js';

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
