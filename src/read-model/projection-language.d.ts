/** What the projections use of EventStoreDB's language. Only tsc reads this file. */
import type { StoredAccountEvent } from '../webhooks/events.js';
import type { AccountCredentials, AccountWebhooks } from '../webhooks/state.js';

declare global {
  /** A fold changes its state. */
  type Changing<T> = T extends object ? { -readonly [Key in keyof T]: Changing<T[Key]> } : T;
  type WebhooksState = Changing<AccountWebhooks>;
  type CredentialsState = Changing<AccountCredentials>;

  interface Handled<Data> {
    /** On a server it may be null, or no object. */
    readonly data: Data;
    readonly eventId: string;
  }

  type EventHandlers<State> = {
    readonly [Type in StoredAccountEvent['type']]?: (
      state: State,
      event: Handled<Changing<Extract<StoredAccountEvent, { readonly type: Type }>['data']>>,
    ) => State;
  };

  function fromCategory(category: string): {
    foreachStream(): { when<State>(handlers: { readonly $init: () => State } & EventHandlers<NoInfer<State>>): void };
  };
}
