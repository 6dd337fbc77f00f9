/** The dependencies of handle-command.ts. */
import type { TraceContext } from '../observability/tracing.js';
import type { NewEvent } from '../ports/event-store.js';
import type { HistoryBudget } from './account-buckets.js';
import type { AccountCommandQueue } from './account-command-queue.js';
import type { KeyUse, NewEventId } from './envelope.js';
import type { AccountState } from './state.js';

export interface CommandDeps {
  readonly accounts: CommandAccounts;
  readonly append: AppendEvents;
  /** Shared by all handlers of a process. */
  readonly queue: AccountCommandQueue;
  readonly budget: HistoryBudget;
  readonly newEventId: NewEventId;
  /** ms since the epoch. */
  readonly time: () => number;
}

export interface CommandAccounts {
  /** The account with all events now in the store. @throws StoreUnavailable, OtherHistory, AccountUnreadable, ReadModelBehind */
  load(accountId: number): Promise<LoadedAccount>;
  /** The effect of an idempotency key in a loaded account, for at least as long as a key is valid. */
  keyUse(accountId: number, key: string): KeyUse | null;
  /**
   * Shows events in this process as soon as they are in the store, so that no command waits for the subscription.
   * @param account to which they were appended @param revision of the last one @returns the state after them
   */
  show(account: LoadedAccount, events: readonly NewEvent[], revision: number): AccountState;
}

export interface LoadedAccount {
  readonly accountId: number;
  /** The state after the stream's last event, and that event; undefined if the stream is empty. */
  readonly folded: { readonly state: AccountState; readonly revision: number; readonly eventId: string } | undefined;
}

/** Appends all of the events if the stream's last revision is `revision`, or none. @throws StoreUnavailable */
export type AppendEvents = (append: {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly revision: number;
  readonly trace?: TraceContext | null | undefined;
}) => Promise<AppendResult>;

/** revision: of the last event of the append. */
export type AppendResult = { readonly kind: 'appended'; readonly revision: number } | Conflict;

/** The stream has another last revision, this one; nothing was appended. */
export interface Conflict {
  readonly kind: 'conflict';
  readonly revision: number;
}
