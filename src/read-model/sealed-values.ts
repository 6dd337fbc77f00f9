/** Every sealed value that the service has to open: headers of webhooks, and the signing secrets that sign. */
import type { AccountStates } from './accounts.js';
import type { ProjectionHost } from './projection-host.js';
import { signingAt } from './signing-secrets.js';

export interface SealedValue {
  readonly stream: string;
  readonly sealed: string;
}

/** As far as folded here. @param time ms since the epoch */
export function* sealedValues(
  accounts: Pick<ProjectionHost<AccountStates>, 'all'>,
  time: number,
): Iterable<SealedValue> {
  for (const [stream, states] of accounts.all()) {
    const { signingSecrets } = states['account-credentials'];
    for (const sealed of sealedIn(signingAt(time, signingSecrets))) yield { stream, sealed };
    // Headers of inactive ones too: GET shows them.
    for (const { headers } of states['account-webhooks'].webhooks) {
      for (const sealed of sealedIn(headers)) yield { stream, sealed };
    }
  }
}

/** An event that lacks what it should have is its own account's trouble; here it is passed over. */
function sealedIn(entries: readonly { readonly sealed?: string }[]): readonly string[] {
  return Array.isArray(entries) ? entries.map((entry) => entry?.sealed).filter((text) => typeof text === 'string') : [];
}
