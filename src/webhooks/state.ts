/**
 * The state of an account's webhooks, folded from its events. projections/account-webhooks.js folds the same shape: a
 * test keeps evolve and the projection equal.
 */
import type {
  DeactivationAnnounced,
  NoticeTarget,
  RecoveryRequest,
  SealedHeader,
  StoredAccountEvent,
  WebhookAdded,
  WebhookDeactivated,
} from './events.js';
import type { EventType } from './limits.js';

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
  /**
   * The id of the WebhookAdded event. Another history may give the webhook's id to another webhook, but never this
   * event id.
   */
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
}

export interface AccountWebhooks {
  /** Null until the account is registered. */
  readonly accountId: number | null;
  /** In order of creation. */
  readonly webhooks: readonly Webhook[];
  /** Endpoints that have taken no delivery for a while. */
  readonly failing: readonly FailingEndpoint[];
  /** The last recovery of each webhook. */
  readonly recoveries: readonly Recovery[];
  /** Absent: the account has not set any. */
  readonly notices?: NoticeTarget;
}

export const NO_ACCOUNT: AccountWebhooks = { accountId: null, webhooks: [], failing: [], recoveries: [] };

export function evolve(state: AccountWebhooks, event: StoredAccountEvent): AccountWebhooks {
  switch (event.type) {
    case 'AccountRegistered':
      return { ...state, accountId: event.data.accountId };
    case 'WebhookAdded': {
      const webhooks = [...state.webhooks, added(event.data, event.id)];
      return notFailing({ ...state, webhooks }, event.data.endpoint);
    }
    case 'WebhookUpdated': {
      const { webhookId, url, endpoint, headers, version, updatedAt } = event.data;
      return configured(state, webhookId, (webhook) => {
        const moved = webhook.endpoint === endpoint ? null : { movedAt: updatedAt };
        return { ...webhook, url, endpoint, headers, version, ...moved };
      });
    }
    case 'WebhookActivated': {
      const { webhookId, activatedAt } = event.data;
      return configured(state, webhookId, (webhook) => ({ ...withoutOff(webhook), isActive: true, activatedAt }));
    }
    case 'WebhookDeactivated':
      return change(state, event.data.webhookId, (webhook) => switchedOff(webhook, event.data));
    case 'WebhookRemoved':
      return withoutRecovery(
        notFailing({ ...state, webhooks: state.webhooks.filter(({ id }) => id !== event.data.webhookId) }),
        event.data.webhookId,
      );
    case 'EndpointFailing': {
      const { endpoint, since } = event.data;
      return { ...state, failing: [...notFailing(state, endpoint).failing, { endpoint, since }] };
    }
    case 'DeactivationAnnounced':
      return { ...state, failing: state.failing.map((one) => announced(one, event.data)) };
    case 'NoticesSet': {
      const { url, endpoint, headers } = event.data;
      return { ...state, notices: { url, endpoint, headers } };
    }
    case 'NoticesRemoved': {
      const { notices: _, ...others } = state;
      return others;
    }
    case 'EndpointRecovered':
      return notFailing(state, event.data.endpoint);
    case 'RecoveryStarted': {
      const { recoveryId: id, webhookId, since, until, include, perSecond, count, startedAt } = event.data;
      const about = { id, webhookId, since, until, include, perSecond, count, startedAt };
      return {
        ...state,
        recoveries: [...withoutRecovery(state, webhookId).recoveries, { ...about, state: 'running' }],
      };
    }
    case 'RecoveryEnded': {
      const { recoveryId, state: ended } = event.data;
      const recoveries = state.recoveries.map((one) => (one.id === recoveryId ? { ...one, state: ended } : one));
      return { ...state, recoveries };
    }
    case 'PublisherRegistered':
    case 'CredentialIssued':
    case 'CredentialRevoked':
    case 'SigningSecretIssued':
    case 'PortalSessionOpened':
    case 'PortalSessionEntered':
    case 'PortalSessionEnded':
    case 'IdempotencyKeyUsed':
      return state;
    default:
      // A stored event of a later release: unknown here, but no reason to stop.
      event satisfies never;
      return state;
  }
}

function withoutRecovery(state: AccountWebhooks, ofWebhook: number): AccountWebhooks {
  return { ...state, recoveries: state.recoveries.filter(({ webhookId }) => webhookId !== ofWebhook) };
}

function switchedOff(webhook: Webhook, { by, reason, deactivatedAt }: WebhookDeactivated['data']): Webhook {
  const off = { isActive: false, offAt: deactivatedAt, offReason: reason };
  return { ...withoutOff(webhook), ...off, ...(by === 'service' && { offBy: by }) };
}

function withoutOff({ offBy: _by, offAt: _at, offReason: _reason, ...webhook }: Webhook): Webhook {
  return webhook;
}

function added(data: WebhookAdded['data'], addedBy: string): Webhook {
  const { webhookId, eventType, url, endpoint, headers, version, createdAt } = data;
  return { id: webhookId, eventType, url, endpoint, headers, version, isActive: true, createdAt, addedBy };
}

/** Somebody has reconfigured the webhook, so the earlier failures of the endpoint that it has now no longer count. */
function configured(state: AccountWebhooks, id: number, by: (webhook: Webhook) => Webhook): AccountWebhooks {
  const changed = change(state, id, by);
  return notFailing(changed, changed.webhooks.find((webhook) => webhook.id === id)?.endpoint);
}

/** Nor is an endpoint that no webhook has any more. */
function notFailing(state: AccountWebhooks, endpoint?: string): AccountWebhooks {
  const isOf = (one: string) => one !== endpoint && state.webhooks.some((webhook) => webhook.endpoint === one);
  return { ...state, failing: state.failing.filter((failing) => isOf(failing.endpoint)) };
}

function announced(
  failing: FailingEndpoint,
  { endpoint, deactivatesAt }: DeactivationAnnounced['data'],
): FailingEndpoint {
  return failing.endpoint === endpoint ? { ...failing, deactivatesAt } : failing;
}

function change(state: AccountWebhooks, id: number, by: (webhook: Webhook) => Webhook): AccountWebhooks {
  return { ...state, webhooks: state.webhooks.map((webhook) => (webhook.id === id ? by(webhook) : webhook)) };
}
