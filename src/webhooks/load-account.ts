/**
 * The basis of a command's decision. The read model loads it; the type is here so that webhooks/ and read-model/ have
 * no cycle.
 */
import type { NewEvent } from '../ports/event-store.js';
import type { KeyUse } from './key-use.js';
import type { AccountWebhooks } from './state.js';

export interface LoadedAccount {
  /** Null if the account was never registered. */
  readonly webhooks: AccountWebhooks | null;
  /** NO_STREAM if there is no stream. */
  readonly revision: number;
  /** The effect of an idempotency key in this account, for at least as long as a key is valid. */
  keyUse(key: string): KeyUse | null;
  /**
   * Makes events that were appended right after the load visible in this process.
   * @param revision of the last one
   * @returns the webhooks after them
   */
  append(events: readonly NewEvent[], revision: number): AccountWebhooks;
}

/** Up to date with the store. @throws StoreUnavailable, OtherHistory, ReadModelBehind */
export type LoadAccount = (accountId: number) => Promise<LoadedAccount>;
