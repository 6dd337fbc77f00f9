/** What an event changed, for people: without sealed values, hashes and header values. Pure. */
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
  return headers.length === 0 ? '' : `, headers ${headers.map(({ key }) => key).join(', ')}`;
}
