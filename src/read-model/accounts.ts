/** What the projections know of accounts, in the terms of the questions that are asked. */
import { accountStream } from '../webhooks/events.js';
import type { EventType } from '../webhooks/limits.js';
import type { AccountWebhooks, Webhook } from '../webhooks/state.js';
import type { Folded } from './folded-states.js';
import type { ProjectionHost } from './projection-host.js';
import type { SealedSecret } from './signing-secrets.js';

/** What projections/account-credentials.js folds. */
export interface AccountCredentials {
  readonly accountId: number | null;
  readonly credentials: readonly Credential[];
  /** Oldest first. */
  readonly signingSecrets: readonly SealedSecret[];
}

export interface Credential {
  readonly clientId: string;
  /** SHA-256 of the client secret, in hex. */
  readonly secretHash: string;
  readonly issuedAt: string;
}

export interface Accounts {
  /** Undefined where the account was never registered, by the store's word. */
  webhooks(accountId: number): Promise<Folded<AccountWebhooks> | undefined>;
  /** With all that the store has just now: another process may have changed them a moment ago. @throws StoreUnavailable */
  webhooksNow(accountId: number): Promise<Folded<AccountWebhooks> | undefined>;
  /** Those of one type that are active, as far as folded here: payments are routed by this. */
  activeWebhooks(accountId: number, eventType: EventType): readonly Webhook[];
  /** Undefined where it is gone, as far as folded here. */
  webhook(accountId: number, webhookId: number): Webhook | undefined;
  /** Since when the endpoint is noted to take nothing, ISO 8601; undefined where it is not, as far as folded here. */
  failingSince(accountId: number, endpoint: string): string | undefined;
  /** An active credential; one not known here is looked for in the store. */
  credential(accountId: number, clientId: string): Promise<Credential | undefined>;
  /** Sealed, newest last. */
  signingSecrets(accountId: number): Promise<AccountCredentials['signingSecrets']>;
}

export function createAccounts(
  webhooks: ProjectionHost<AccountWebhooks>,
  credentials: ProjectionHost<AccountCredentials>,
): Accounts {
  const state = (accountId: number) => webhooks.current(accountStream(accountId))?.state;
  const current = (accountId: number) => state(accountId)?.webhooks ?? [];
  const named = (known: AccountCredentials | undefined, clientId: string) =>
    known?.credentials.find((credential) => credential.clientId === clientId);
  return {
    webhooks: (accountId) => webhooks.find(accountStream(accountId)),
    webhooksNow: (accountId) => webhooks.fresh(accountStream(accountId)),
    activeWebhooks: (accountId, eventType) =>
      current(accountId).filter((webhook) => webhook.isActive && webhook.eventType === eventType),
    webhook: (accountId, webhookId) => current(accountId).find(({ id }) => id === webhookId),
    failingSince: (accountId, endpoint) =>
      state(accountId)?.failing.find((failing) => failing.endpoint === endpoint)?.since,
    async credential(accountId, clientId) {
      const stream = accountStream(accountId);
      const known = named(credentials.current(stream)?.state, clientId);
      return known ?? named((await credentials.fresh(stream))?.state, clientId);
    },
    async signingSecrets(accountId) {
      return (await credentials.find(accountStream(accountId)))?.state.signingSecrets ?? [];
    },
  };
}
