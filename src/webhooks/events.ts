/**
 * The events of one account's stream, `account-<accountId>`. Their shapes are permanent: they may only be extended, and
 * folds ignore unknown events and fields. All times are ISO 8601, UTC, milliseconds: a projection on the server has no
 * other clock. For `sealed` values see secrets/sealing.ts.
 */
import type { EventType, Right } from './limits.js';

export interface SealedHeader {
  /** As registered. */
  readonly key: string;
  readonly sealed: string;
}

export interface WebhookConfiguration {
  readonly webhookId: number;
  readonly eventType: EventType;
  /** As registered. */
  readonly url: string;
  /** The URL's identity: its WHATWG-normalised href. */
  readonly endpoint: string;
  readonly headers: readonly SealedHeader[];
  /** 1 for a new webhook, plus one per update. */
  readonly version: number;
}

/** The failed attempt that an event is based on. `error` as accounts see it (shownFailure). */
export interface LastFailure {
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
}

interface Failing {
  readonly endpoint: string;
  /** The first failure after the last success. */
  readonly since: string;
  readonly lastFailure: LastFailure;
}

/** `url` as given, `endpoint` normalised. */
export interface NoticeTarget {
  readonly url: string;
  readonly endpoint: string;
  readonly headers: readonly SealedHeader[];
}

/** Which deliveries are sent again. */
export interface RecoveryRequest {
  readonly recoveryId: string;
  readonly webhookIds: readonly number[];
  /** Of their payments' publication: since is inclusive, until is exclusive. */
  readonly since: string;
  readonly until: string;
  /** Of RECOVERABLE (ports/deliveries-view.ts). */
  readonly include: readonly string[];
  readonly perSecond: number;
  /** How many there were when the recovery started. */
  readonly count: number;
  /** Of its requests. */
  readonly actor: string;
}

/** What an update replaced, for people. */
interface ReplacedConfiguration {
  readonly url: string;
  /** Names. */
  readonly headers: readonly string[];
  /** Names or values: a value sealed again looks different, so this is known only when it is decided. */
  readonly headersChanged: boolean;
}

interface AccountEventData {
  AccountRegistered: { accountId: number; registeredAt: string };
  /** The first event of a publisher's stream; the only others are of credentials. */
  PublisherRegistered: { name: string; registeredAt: string };
  /** secretHash: SHA-256 of the client secret, in hex. */
  CredentialIssued: { clientId: string; secretHash: string; issuedAt: string };
  CredentialRevoked: { clientId: string; revokedAt: string };
  SigningSecretIssued: { sealed: string; issuedAt: string };
  /** From now on only the newest one signs. */
  SigningSecretsRevoked: { revokedAt: string };
  /** Only a token opens one. */
  PortalSessionOpened: {
    sessionId: string;
    /** SHA-256 of the one-time code, in hex. */
    codeHash: string;
    codeUntil: string;
    user: string | null;
    can: readonly Right[];
    /** The actor of what is done in it: that of the opener, a slash and the user. */
    actor: string;
    /** The credential that it ends with; null if another issuer's token opened it. */
    clientId: string | null;
    /** A path of the console. */
    next: string | null;
    returnUrl: string | null;
    until: string;
    openedAt: string;
  };
  /** The one-time code was used. cookieHash: SHA-256 of the cookie's secret, in hex. */
  PortalSessionEntered: { sessionId: string; cookieHash: string; enteredAt: string };
  PortalSessionEnded: { sessionId: string; endedAt: string };
  WebhookAdded: WebhookConfiguration & { readonly createdAt: string };
  WebhookUpdated: WebhookConfiguration & { readonly updatedAt: string; readonly replaced?: ReplacedConfiguration };
  WebhookActivated: { webhookId: number; activatedAt: string };
  /** by, lastFailure: only if the service deactivated the webhook (410, DEACTIVATE_AFTER); since: nothing was delivered. */
  WebhookDeactivated: {
    webhookId: number;
    reason: string;
    by?: 'service';
    since?: string;
    lastFailure?: LastFailure;
    deactivatedAt: string;
  };
  WebhookRemoved: { webhookId: number; removedAt: string };
  /**
   * Nothing has been delivered to the endpoint since then. Noted once, until the endpoint recovers or a webhook of it is
   * reconfigured. deactivatesAt: by the settings of that time; null: never.
   */
  EndpointFailing: Failing & { readonly deactivatesAt: string | null; readonly notedAt: string };
  /** The webhooks of a failing endpoint will be deactivated soon. Noted once, as above. */
  DeactivationAnnounced: Failing & { readonly deactivatesAt: string; readonly announcedAt: string };
  EndpointRecovered: { endpoint: string; since: string; recoveredAt: string };
  /** Where the account gets its notices. Replaces what was set before. */
  NoticesSet: NoticeTarget & { readonly setAt: string };
  NoticesRemoved: { removedAt: string };
  RecoveryStarted: RecoveryRequest & { readonly startedAt: string };
  /** done: all were sent but those that it passed by, for they could not be sent. stopped: by the account; passedBy is null. */
  RecoveryEnded: { recoveryId: string; state: 'done' | 'stopped'; endedAt: string; passedBy: number | null };
  /** A request with an Idempotency-Key that changed nothing, of the webhook as it found it (envelope.ts). */
  IdempotencyKeyUsed: { webhookId: number; version: number };
}

type StoredType = keyof AccountEventData;
type EventOf<Types extends StoredType> = {
  readonly [Type in Types]: { readonly type: Type; readonly data: Readonly<AccountEventData[Type]> };
}[Types];

export type AccountEvent = EventOf<StoredType>;
export type AccountRegistered = EventOf<'AccountRegistered'>;
export type PortalSessionOpened = EventOf<'PortalSessionOpened'>;
export type WebhookAdded = EventOf<'WebhookAdded'>;

export type CredentialEvent = EventOf<
  Extract<StoredType, `Credential${string}` | `Signing${string}` | `Portal${string}`>
>;

export type WebhookEvent = Exclude<
  AccountEvent,
  CredentialEvent | EventOf<'AccountRegistered' | 'PublisherRegistered' | 'IdempotencyKeyUsed'>
>;

/** As stored: the id is unique among all events, even those of another history. */
export type StoredAccountEvent = AccountEvent & { readonly id: string };

export const ACCOUNT_STREAM_PREFIX = 'account-';

export function accountStream(accountId: number): string {
  return `${ACCOUNT_STREAM_PREFIX}${accountId}`;
}

/** Has credentials: an account, by its id, or a publisher, by its name. */
export type ClientOwner = number | string;

/**
 * Publishers are in the category of accounts, so that one subscription and the same projections fold their credentials.
 * An account's id has only digits.
 */
export const PUBLISHER_STREAM_PREFIX = `${ACCOUNT_STREAM_PREFIX}publisher-`;

/** As in messages: account 42, publisher ledger. */
export function ownerText(owner: ClientOwner): string {
  return `${typeof owner === 'number' ? 'account' : 'publisher'} ${owner}`;
}

export function streamOf(owner: ClientOwner): string {
  return typeof owner === 'number' ? accountStream(owner) : `${PUBLISHER_STREAM_PREFIX}${owner}`;
}
