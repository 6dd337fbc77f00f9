/** What an event changed: a text for people, and details for programs. Neither has sealed values, hashes or header values. Pure. */
import type { AccountEvent, SealedHeader, WebhookConfiguration } from './events.js';

export function changesOf(event: AccountEvent): string {
  switch (event.type) {
    case 'AccountRegistered':
      return `account ${event.data.accountId} registered`;
    case 'PublisherRegistered':
      return `publisher ${event.data.name} registered`;
    case 'CredentialIssued':
      return `credential ${event.data.clientId} issued`;
    case 'CredentialRevoked':
      return `credential ${event.data.clientId} revoked`;
    case 'SigningSecretIssued':
      return 'signing secret issued';
    case 'SigningSecretsRevoked':
      return 'earlier signing secrets revoked';
    case 'PortalSessionOpened': {
      const { sessionId, user, can, until } = event.data;
      return `session ${sessionId} opened${user === null ? '' : ` for ${user}`}: ${can.join(', ')} until ${until}`;
    }
    case 'PortalSessionEntered':
      return `session ${event.data.sessionId} entered`;
    case 'PortalSessionEnded':
      return `session ${event.data.sessionId} ended`;
    case 'WebhookAdded':
      return `added: ${configuration(event.data)}`;
    case 'WebhookUpdated':
      return `updated: ${configuration(event.data)}`;
    case 'WebhookActivated':
      return 'activated';
    case 'WebhookDeactivated':
      return `deactivated: ${event.data.reason}`;
    case 'WebhookRemoved':
      return 'removed';
    case 'EndpointFailing':
      return `${event.data.endpoint} has accepted no delivery since ${event.data.since}`;
    case 'EndpointRecovered':
      return `${event.data.endpoint} accepts deliveries again`;
    case 'DeactivationAnnounced':
      return `${event.data.endpoint} is deactivated at ${event.data.deactivatesAt} unless it accepts a delivery`;
    case 'NoticesSet':
      return `notices go to ${event.data.url}${names(event.data.headers)}`;
    case 'NoticesRemoved':
      return 'no notices are sent';
    case 'RecoveryStarted': {
      const { recoveryId, webhookIds, count, since, until, perSecond } = event.data;
      const about = `${count} deliveries of ${since} to ${until}, ${perSecond} a second`;
      return `recovery ${recoveryId} of ${webhooksText(webhookIds)} started: ${about}`;
    }
    case 'RecoveryEnded': {
      const { recoveryId, state, passedBy } = event.data;
      return `recovery ${recoveryId} ${state}${passedBy ? `: ${passedBy} could not be sent` : ''}`;
    }
    case 'IdempotencyKeyUsed':
      return 'registered again without a change';
    default:
      // A stored event of a later release.
      event satisfies never;
      return '';
  }
}

function webhooksText(ids: readonly number[]): string {
  return `${ids.length === 1 ? 'webhook' : 'webhooks'} ${ids.join(', ')}`;
}

function configuration({ eventType, url, version, headers }: WebhookConfiguration): string {
  return `${eventType} ${url} v${version}${names(headers)}`;
}

function names(headers: readonly SealedHeader[]): string {
  return headers.length === 0 ? '' : `, headers ${namesOf(headers).join(', ')}`;
}

/** Why a webhook was switched off: by its account; its URL answered 410; it accepted nothing for too long. */
export const OFF_REASONS = ['paused', 'gone', 'failing'] as const;

/** Before and after, or what it was about, by the event's type: the fields that /openapi.json describes as ChangeDetails. */
export function detailsOf(event: AccountEvent) {
  switch (event.type) {
    case 'CredentialIssued':
    case 'CredentialRevoked':
      return { clientId: event.data.clientId };
    case 'PortalSessionOpened': {
      const { sessionId, user, can, until } = event.data;
      return { sessionId, user, can, until };
    }
    case 'PortalSessionEntered':
    case 'PortalSessionEnded':
      return { sessionId: event.data.sessionId };
    case 'WebhookAdded':
      return { before: null, after: configured(event.data), headersChanged: event.data.headers.length > 0 };
    case 'WebhookUpdated': {
      const { eventType, replaced } = event.data;
      const after = configured(event.data);
      if (!replaced) return { after };
      const { url, headers, headersChanged } = replaced;
      return { before: { eventType, url, headers }, after, headersChanged };
    }
    case 'WebhookDeactivated':
      return offDetails(event.data);
    case 'EndpointFailing':
    case 'DeactivationAnnounced': {
      const { endpoint: url, since, deactivatesAt } = event.data;
      return { url, since, deactivatesAt };
    }
    case 'EndpointRecovered':
      return { url: event.data.endpoint, since: event.data.since };
    case 'NoticesSet':
      return { after: { url: event.data.url, headers: namesOf(event.data.headers) } };
    case 'NoticesRemoved':
      return { after: null };
    case 'RecoveryStarted': {
      const { recoveryId, webhookIds, count, since, until, perSecond } = event.data;
      return { recoveryId, webhookIds, count, since, until, perSecond };
    }
    case 'RecoveryEnded': {
      const { recoveryId, state, passedBy } = event.data;
      return { recoveryId, state, passedBy };
    }
    case 'AccountRegistered':
    case 'PublisherRegistered':
    case 'SigningSecretIssued':
    case 'SigningSecretsRevoked':
    case 'WebhookActivated':
    case 'WebhookRemoved':
    case 'IdempotencyKeyUsed':
      return {};
    default:
      // A stored event of a later release.
      event satisfies never;
      return {};
  }
}

function offDetails({ by, since }: Extract<AccountEvent, { type: 'WebhookDeactivated' }>['data']) {
  if (!by) return { reason: 'paused' };
  return since === undefined ? { reason: 'gone' } : { reason: 'failing', since };
}

function configured({ eventType, url, headers }: WebhookConfiguration) {
  return { eventType, url, headers: namesOf(headers) };
}

function namesOf(headers: readonly SealedHeader[]): readonly string[] {
  return headers.map(({ key }) => key);
}
