/** What an event changed: a text for people, and details for programs. Neither has sealed values, hashes or header values. Pure. */
import type { AccountEvent, SealedHeader, WebhookConfiguration } from './events.js';

/** `webhook added: after eventType cash_in, url https://shop.example.com/, headers X-Api-Key` */
export function changesOf({ type }: Pick<AccountEvent, 'type'>, details: object): string {
  const name = type.replace(/(?<=.)[A-Z]/g, ' $&').toLowerCase();
  const text = detailsText(details);
  return text ? `${name}: ${text}` : name;
}

export function detailsText(details: object): string {
  const given = Object.entries(details).filter(([, value]) => value !== null && value !== undefined);
  return given.map(([name, value]) => `${name} ${inWords(value)}`).join('; ');
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.join(' ');
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, one]) => `${name} ${inWords(one)}`);
  return fields.map((field) => field.trimEnd()).join(', ');
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
