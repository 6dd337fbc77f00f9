/**
 * The events of one account's stream, `account-<accountId>`. Their shapes are permanent: they may only be extended, and
 * folds ignore unknown events and fields. All times are ISO 8601, UTC, milliseconds: a projection on the server has no
 * other clock. For `sealed` values see secrets/sealing.ts.
 */
import type { EventType } from './limits.js';

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

export interface WebhookDeactivated {
  readonly type: 'WebhookDeactivated';
  /** by: only if the service deactivated the webhook (410, DEACTIVATE_AFTER). */
  readonly data: {
    readonly webhookId: number;
    readonly reason: string;
    readonly by?: 'service';
    readonly deactivatedAt: string;
  };
}

interface WebhookRemoved {
  readonly type: 'WebhookRemoved';
  readonly data: { readonly webhookId: number; readonly removedAt: string };
}

/**
 * Nothing has been delivered to the endpoint since then. Noted once, until the endpoint recovers or a webhook of it is
 * reconfigured.
 */
interface EndpointFailing {
  readonly type: 'EndpointFailing';
  /** since: the first failure after the last success. */
  readonly data: { readonly endpoint: string; readonly since: string; readonly notedAt: string };
}

interface EndpointRecovered {
  readonly type: 'EndpointRecovered';
  readonly data: { readonly endpoint: string; readonly recoveredAt: string };
}

/** A request with an Idempotency-Key that changed nothing: the metadata contains the key (key-use.ts). */
interface IdempotencyKeyUsed {
  readonly type: 'IdempotencyKeyUsed';
  /** The webhook as the request found it. */
  readonly data: { readonly webhookId: number; readonly version: number };
}

type EndpointEvent = EndpointFailing | EndpointRecovered;

export type WebhookEvent =
  | WebhookAdded
  | WebhookUpdated
  | WebhookActivated
  | WebhookDeactivated
  | WebhookRemoved
  | EndpointEvent;

type CredentialEvent = CredentialIssued | CredentialRevoked | SigningSecretIssued;

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
