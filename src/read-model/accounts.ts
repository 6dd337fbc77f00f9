/** The projections' state of accounts, in the terms of the queries. */
import { type EventStore, NO_STREAM, StreamHidden } from '../ports/event-store.js';
import type { CommandAccounts } from '../webhooks/command-deps.js';
import { accountStream, type ClientOwner, type NoticeTarget, streamOf } from '../webhooks/events.js';
import type { EventType } from '../webhooks/limits.js';
import type {
  AccountCredentials,
  AccountState,
  AccountWebhooks,
  Credential,
  FailingEndpoint,
  PortalSession,
  Webhook,
} from '../webhooks/state.js';
import type { AccountStates } from './account-states.js';
import { AccountUnreadable, setAsideHidden, setAsideText } from './account-unreadable.js';
import { type Folded, foldAll } from './fold.js';
import { loadProjection } from './projection-source.js';
import type { StoreLookups } from './store-lookups.js';

/** Where payment events go. */
export interface Routes {
  /** The account's last known revision; NO_STREAM if there is none. */
  readonly revision: number;
  /** Those that get a delivery; it is held where the webhook is not active. */
  readonly webhooks: readonly Webhook[];
}

/** Whether payments become deliveries: not if the account itself switched the webhook off. */
export function isRouted({ isActive, offBy }: Pick<Webhook, 'isActive' | 'offBy'>): boolean {
  return isActive || offBy === 'service';
}

type SigningSecrets = AccountCredentials['signingSecrets'];

/** If the account is set aside, methods with a promise reject with AccountUnreadable; the others return no webhook. */
export interface Accounts {
  /** Why the account is set aside, naming the event or what became of the stream; null if it isn't. As far as known here. */
  unreadable(accountId: number): string | null;
  /** Undefined if the account was never registered, according to the store. @throws StoreUnavailable */
  webhooks(accountId: number): Promise<AccountWebhooks | undefined>;
  /** With all events now in the store: another process may have just changed the webhooks. @throws StoreUnavailable */
  webhooksNow(accountId: number): Promise<AccountWebhooks | undefined>;
  /** Of one type, as far as known here: used to route payments. */
  routes(accountId: number, eventType: EventType): Routes;
  /** Undefined if it was removed, as far as known here. */
  webhook(accountId: number, webhookId: number): Webhook | undefined;
  /** Where the account is told about its webhooks; undefined if nowhere, as far as known here. */
  noticeTarget(accountId: number): NoticeTarget | undefined;
  /** Null while the account is unknown here, or set aside. */
  webhookIds(accountId: number): readonly number[] | null;
  /** The endpoint as recorded as failing; undefined if it isn't, as far as known here. */
  failingEndpoint(accountId: number, endpoint: string): FailingEndpoint | undefined;
  /** An active credential; if unknown here, looked up in the store. @throws TooManyLookups, StoreUnavailable */
  credential(owner: ClientOwner, clientId: string): Promise<Credential | undefined>;
  /** The session that `isIt` accepts; if unknown here, as `credential`. It may have expired. */
  session(accountId: number, isIt: (session: PortalSession) => boolean): Promise<PortalSession | undefined>;
  /**
   * With all events now in the store, and the revision of the last one; undefined if the account was never registered.
   * @throws StoreUnavailable, ReadModelBehind
   */
  credentialsNow(accountId: number): Promise<{ credentials: AccountCredentials; revision: number } | undefined>;
  /** Sealed, newest last. A promise where the account is looked up in the store. */
  signingSecrets(accountId: number): SigningSecrets | Promise<SigningSecrets>;
}

export function createAccounts(states: AccountStates<AccountState>, lookups: StoreLookups): Accounts {
  const webhooksOf = (found: Folded<AccountState> | undefined) => found?.state['account-webhooks'];
  const aside = (accountId: number) => states.setAside.get(accountStream(accountId));
  const known = (accountId: number) => (aside(accountId) ? undefined : states.cached(accountStream(accountId)));
  const state = (accountId: number) => webhooksOf(known(accountId));
  const named = (found: Folded<AccountState> | undefined, clientId: string) =>
    found?.state['account-credentials'].credentials.find((credential) => credential.clientId === clientId);
  return {
    unreadable(accountId) {
      const event = aside(accountId);
      return event ? setAsideText(accountStream(accountId), event) : null;
    },
    webhooks: async (accountId) => webhooksOf(await states.find(accountStream(accountId))),
    webhooksNow: async (accountId) => webhooksOf(await states.latest(accountStream(accountId))),
    routes(accountId, eventType) {
      const found = known(accountId);
      const isOf = (webhook: Webhook) => webhook.eventType === eventType && isRouted(webhook);
      return { revision: found?.revision ?? NO_STREAM, webhooks: webhooksOf(found)?.webhooks.filter(isOf) ?? [] };
    },
    webhook: (accountId, webhookId) => state(accountId)?.webhooks.find(({ id }) => id === webhookId),
    noticeTarget: (accountId) => state(accountId)?.notices,
    webhookIds: (accountId) => state(accountId)?.webhooks.map(({ id }) => id) ?? null,
    failingEndpoint: (accountId, endpoint) =>
      state(accountId)?.failing.find((failing) => failing.endpoint === endpoint),
    async credential(owner, clientId) {
      const stream = streamOf(owner);
      const known = () => named(states.cached(stream), clientId);
      const search = async () => named(await states.latest(stream), clientId);
      return known() ?? lookups.find({ stream, id: clientId, known, search });
    },
    async session(accountId, isIt) {
      const stream = accountStream(accountId);
      const of = (found: Folded<AccountState> | undefined) => found?.state['account-credentials'].sessions.find(isIt);
      const known = () => of(states.cached(stream));
      return known() ?? lookups.find({ stream, known, search: async () => of(await states.latest(stream)) });
    },
    async credentialsNow(accountId) {
      states.assertNotTooFarAhead();
      const folded = await states.latest(accountStream(accountId));
      return folded && { credentials: folded.state['account-credentials'], revision: folded.revision };
    },
    signingSecrets(accountId) {
      const of = (found: Folded<AccountState> | undefined) => found?.state['account-credentials'].signingSecrets ?? [];
      const cached = states.cached(accountStream(accountId));
      return cached ? of(cached) : states.latest(accountStream(accountId)).then(of);
    },
  };
}

/** Commands decide on all events in the store; events that they append are visible immediately in this process. */
export function createCommandAccounts(states: AccountStates<AccountState>): CommandAccounts {
  return {
    async load(accountId) {
      states.assertNotTooFarAhead();
      return { accountId, folded: await states.latest(accountStream(accountId)) };
    },
    keyUse: (accountId, key) => states.key(accountStream(accountId), key),
    show: ({ accountId, folded }, events, revision) =>
      states.append(accountStream(accountId), folded, events, revision).state,
  };
}

export type AccountNow = Pick<Accounts, 'webhook' | 'unreadable' | 'noticeTarget'>;

/** An account's webhooks as the event store has them now, for commands, which have no read model. @throws StoreUnavailable */
export async function accountNow(store: Pick<EventStore, 'read'>, accountId: number): Promise<AccountNow> {
  const stream = accountStream(accountId);
  const known = (why: string | null, state?: AccountWebhooks): AccountNow => ({
    unreadable: () => why,
    webhook: (_, id) => state?.webhooks.find((webhook) => webhook.id === id),
    noticeTarget: () => state?.notices,
  });
  try {
    const folded = await foldAll<AccountWebhooks>(loadProjection('account-webhooks'), store.read(stream));
    return known(null, folded?.state);
  } catch (error) {
    const unreadable = error instanceof StreamHidden ? new AccountUnreadable(stream, setAsideHidden(error)) : error;
    if (!(unreadable instanceof AccountUnreadable)) throw error;
    return known(unreadable.message);
  }
}
