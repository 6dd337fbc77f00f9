/** The states that projections/*.js fold from an account's events. */
import type { NoticeTarget, RecoveryRequest, SealedHeader } from './events.js';
import type { EventType, Right } from './limits.js';

export interface Webhook {
  readonly id: number;
  readonly eventType: EventType;
  readonly url: string;
  readonly endpoint: string;
  readonly headers: readonly SealedHeader[];
  readonly version: number;
  readonly isActive: boolean;
  /** Only while the webhook is inactive, and only if the service deactivated it. */
  readonly offBy?: 'service';
  /** Since when and why it is inactive: absent while it is active. */
  readonly offAt?: string;
  readonly offReason?: string;
  readonly createdAt: string;
  /** When it was last activated again; absent: never. */
  readonly activatedAt?: string;
  /** When it last got another endpoint; absent: never. */
  readonly movedAt?: string;
  /** The id of the WebhookAdded event. Another history may reuse the webhook's id, but never this event id. */
  readonly addedBy: string;
}

/** What an answer to the same request shows of the webhook that it registered; the request has the rest. */
export type RegisteredWebhook = Pick<Webhook, 'id' | 'url' | 'createdAt'>;

/** `since`: ISO 8601, the first failure after the last success. */
export interface FailingEndpoint {
  readonly endpoint: string;
  readonly since: string;
  /** ISO 8601: when its webhooks are deactivated, as the account was told. */
  readonly deactivatesAt?: string;
}

export interface Recovery extends Omit<RecoveryRequest, 'recoveryId'> {
  readonly id: string;
  readonly startedAt: string;
  readonly state: 'running' | 'done' | 'stopped';
  /** How many could not be sent; null: not known before it is done. */
  readonly passedBy: number | null;
}

/** Folded by projections/account-webhooks.js. */
export interface AccountWebhooks {
  /** Null until the account is registered. */
  readonly accountId: number | null;
  /** In order of creation. */
  readonly webhooks: readonly Webhook[];
  /** Endpoints that have taken no delivery for a while. */
  readonly failing: readonly FailingEndpoint[];
  /** Oldest first: the last recovery of each webhook, perhaps of several. */
  readonly recoveries: readonly Recovery[];
  /** Absent: the account has not set any. */
  readonly notices?: NoticeTarget;
}

export const NO_ACCOUNT: AccountWebhooks = { accountId: null, webhooks: [], failing: [], recoveries: [] };

/** Folded by projections/account-credentials.js. */
export interface AccountCredentials {
  readonly accountId: number | null;
  readonly credentials: readonly Credential[];
  /** Oldest first. */
  readonly signingSecrets: readonly SealedSecret[];
  /** Oldest first. Expired ones may be among them. */
  readonly sessions: readonly PortalSession[];
}

/** Times are ISO 8601, UTC, ms; hashes SHA-256, in hex. */
export interface PortalSession {
  readonly id: string;
  readonly codeHash: string;
  readonly codeUntil: string;
  /** Null until the one-time code is used. */
  readonly cookieHash: string | null;
  readonly user: string | null;
  readonly can: readonly Right[];
  readonly actor: string;
  readonly clientId: string | null;
  readonly next: string | null;
  readonly returnUrl: string | null;
  readonly until: string;
  readonly openedAt: string;
}

export interface Credential {
  readonly clientId: string;
  /** SHA-256 of the client secret, in hex. */
  readonly secretHash: string;
  readonly issuedAt: string;
}

/** The states folded from an account's stream, by projection. */
export interface AccountState {
  readonly 'account-webhooks': AccountWebhooks;
  readonly 'account-credentials': AccountCredentials;
}

export interface SealedSecret {
  readonly sealed: string;
  /** ISO 8601, UTC, ms. */
  readonly issuedAt: string;
}
