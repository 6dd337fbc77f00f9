/** What a command is decided on. The read model loads it; so webhooks/ and read-model/ make no circle. */
import type { KeyUse } from './key-use.js';
import type { AccountWebhooks } from './state.js';

export interface LoadedAccount {
  /** Null where the account was never registered. */
  readonly webhooks: AccountWebhooks | null;
  /** NO_STREAM where there is none. */
  readonly revision: number;
  /** What an idempotency key caused in this account, for at least as long as a key counts. */
  keyUse(key: string): KeyUse | null;
  /** What was appended on top of it, folded; `at` is the last event's place. */
  applied(webhooks: AccountWebhooks, at: { revision: number; eventId: string }, keys: readonly KeyUse[]): void;
}

/** With all that the store has. @throws StoreUnavailable, OtherHistory, ReadModelBehind */
export type LoadAccount = (accountId: number) => Promise<LoadedAccount>;
