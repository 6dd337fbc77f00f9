/**
 * The events of one account's stream, `account-<accountId>`. Their shapes are for ever: they are only extended, and
 * whoever folds them ignores what it does not know. All times are ISO 8601, UTC, milliseconds: a projection on the
 * server sees no other clock. `sealed` values are explained in secrets/sealing.ts.
 */
import type { EventType } from './limits.js';

export interface SealedHeader {
  /** As it was given. */
  readonly key: string;
  readonly sealed: string;
}

export interface AccountRegistered {
  readonly type: 'AccountRegistered';
  readonly data: { readonly accountId: number; readonly registeredAt: string };
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
  /** As it was given. */
  readonly url: string;
  /** The URL's identity: its WHATWG-normalised href. */
  readonly endpoint: string;
  readonly headers: readonly SealedHeader[];
  /** 1 for a new webhook, one more with each update. */
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
  /** by: only where the service did it (410, DEACTIVATE_AFTER); earlier releases did not say so. */
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

/** Nothing was delivered to the endpoint since then. Noted once, until it recovers or somebody configures it anew. */
interface EndpointFailing {
  readonly type: 'EndpointFailing';
  /** since: the first failure after the last success. */
  readonly data: { readonly endpoint: string; readonly since: string; readonly notedAt: string };
}

interface EndpointRecovered {
  readonly type: 'EndpointRecovered';
  readonly data: { readonly endpoint: string; readonly recoveredAt: string };
}

/** A request that came with an Idempotency-Key, and changed nothing: its key stands in the metadata (key-use.ts). */
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

export type AccountEvent = AccountRegistered | CredentialEvent | WebhookEvent | IdempotencyKeyUsed;

/** As it stands in the store: its id tells it from every other event, of another history too. */
export type StoredAccountEvent = AccountEvent & { readonly id: string };

export const ACCOUNT_STREAM_PREFIX = 'account-';

export function accountStream(accountId: number): string {
  return `${ACCOUNT_STREAM_PREFIX}${accountId}`;
}
