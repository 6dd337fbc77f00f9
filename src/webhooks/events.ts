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

export interface AccountRegistered {
  readonly type: 'AccountRegistered';
  readonly data: { readonly accountId: number; readonly registeredAt: string };
}

/** The first event of a publisher's stream; the only others are of credentials. */
interface PublisherRegistered {
  readonly type: 'PublisherRegistered';
  readonly data: { readonly name: string; readonly registeredAt: string };
}

interface CredentialIssued {
  readonly type: 'CredentialIssued';
  /** secretHash: SHA-256 of the client secret, in hex. */
  readonly data: { readonly clientId: string; readonly secretHash: string; readonly issuedAt: string };
}

interface CredentialRevoked {
  readonly type: 'CredentialRevoked';
  readonly data: { readonly clientId: string; readonly revokedAt: string };
}

interface SigningSecretIssued {
  readonly type: 'SigningSecretIssued';
  readonly data: { readonly sealed: string; readonly issuedAt: string };
}

/** Opened with a token, or in another session, which it ends with. */
export interface PortalSessionOpened {
  readonly type: 'PortalSessionOpened';
  readonly data: {
    readonly sessionId: string;
    /** SHA-256 of the one-time code, in hex. */
    readonly codeHash: string;
    readonly codeUntil: string;
    readonly user: string | null;
    readonly can: readonly Right[];
    /** The actor of what is done in it: that of the opener, a slash and the user. */
    readonly actor: string;
    /** The credential that it ends with; null if another issuer's token opened it. */
    readonly clientId: string | null;
    /** The session that opened it. */
    readonly parentId: string | null;
    /** A path of the console. */
    readonly next: string | null;
    readonly returnUrl: string | null;
    readonly until: string;
    readonly openedAt: string;
  };
}

/** The one-time code was used. */
interface PortalSessionEntered {
  readonly type: 'PortalSessionEntered';
  /** cookieHash: SHA-256 of the cookie's secret, in hex. */
  readonly data: { readonly sessionId: string; readonly cookieHash: string; readonly enteredAt: string };
}

interface PortalSessionEnded {
  readonly type: 'PortalSessionEnded';
  readonly data: { readonly sessionId: string; readonly endedAt: string };
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

export interface WebhookAdded {
  readonly type: 'WebhookAdded';
  readonly data: WebhookConfiguration & { readonly createdAt: string };
}

export interface WebhookUpdated {
  readonly type: 'WebhookUpdated';
  readonly data: WebhookConfiguration & { readonly updatedAt: string };
}

interface WebhookActivated {
  readonly type: 'WebhookActivated';
  readonly data: { readonly webhookId: number; readonly activatedAt: string };
}

interface WebhookDeactivated {
  readonly type: 'WebhookDeactivated';
  /** by: only if the service deactivated the webhook (410, DEACTIVATE_AFTER). */
  readonly data: {
    readonly webhookId: number;
    readonly reason: string;
    readonly by?: 'service';
    /** Only beside `by`. */
    readonly lastFailure?: LastFailure;
    readonly deactivatedAt: string;
  };
}

interface WebhookRemoved {
  readonly type: 'WebhookRemoved';
  readonly data: { readonly webhookId: number; readonly removedAt: string };
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

/**
 * Nothing has been delivered to the endpoint since then. Noted once, until the endpoint recovers or a webhook of it is
 * reconfigured.
 */
interface EndpointFailing {
  readonly type: 'EndpointFailing';
  /** deactivatesAt: by the settings of that time; null: never. */
  readonly data: Failing & { readonly deactivatesAt: string | null; readonly notedAt: string };
}

/** The webhooks of a failing endpoint will be deactivated soon. Noted once, as above. */
interface DeactivationAnnounced {
  readonly type: 'DeactivationAnnounced';
  readonly data: Failing & { readonly deactivatesAt: string; readonly announcedAt: string };
}

interface EndpointRecovered {
  readonly type: 'EndpointRecovered';
  readonly data: { readonly endpoint: string; readonly since: string; readonly recoveredAt: string };
}

/** Where the account gets its notices. Replaces what was set before. */
interface NoticesSet {
  readonly type: 'NoticesSet';
  readonly data: NoticeTarget & { readonly setAt: string };
}

interface NoticesRemoved {
  readonly type: 'NoticesRemoved';
  readonly data: { readonly removedAt: string };
}

/** `url` as given, `endpoint` normalised. */
export interface NoticeTarget {
  readonly url: string;
  readonly endpoint: string;
  readonly headers: readonly SealedHeader[];
}

/** Which deliveries of a webhook are sent again. */
export interface RecoveryRequest {
  readonly recoveryId: string;
  readonly webhookId: number;
  /** Of their payments' publication: since is inclusive, until is exclusive. */
  readonly since: string;
  readonly until: string;
  /** Of RECOVERABLE (ports/deliveries-view.ts). */
  readonly include: readonly string[];
  readonly perSecond: number;
  /** How many there were when the recovery started. */
  readonly count: number;
}

interface RecoveryStarted {
  readonly type: 'RecoveryStarted';
  readonly data: RecoveryRequest & { readonly startedAt: string };
}

interface RecoveryEnded {
  readonly type: 'RecoveryEnded';
  readonly data: {
    readonly recoveryId: string;
    readonly webhookId: number;
    readonly state: 'done' | 'stopped';
    readonly endedAt: string;
  };
}

/** A request with an Idempotency-Key that changed nothing: the metadata contains the key (envelope.ts). */
interface IdempotencyKeyUsed {
  readonly type: 'IdempotencyKeyUsed';
  /** The webhook as the request found it. */
  readonly data: { readonly webhookId: number; readonly version: number };
}

type EndpointEvent = EndpointFailing | DeactivationAnnounced | EndpointRecovered;

type NoticesEvent = NoticesSet | NoticesRemoved;

export type WebhookEvent =
  | WebhookAdded
  | WebhookUpdated
  | WebhookActivated
  | WebhookDeactivated
  | WebhookRemoved
  | EndpointEvent
  | RecoveryStarted
  | RecoveryEnded
  | NoticesEvent;

type SessionEvent = PortalSessionOpened | PortalSessionEntered | PortalSessionEnded;

export type CredentialEvent = CredentialIssued | CredentialRevoked | SigningSecretIssued | SessionEvent;

export type AccountEvent =
  | AccountRegistered
  | PublisherRegistered
  | CredentialEvent
  | WebhookEvent
  | IdempotencyKeyUsed;

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
