/** What a change in the history says beyond its type, in the reader's language. */
import type { Change } from '../api/shapes.js';
import type { Texts } from '../texts/en.js';

type Time = (iso: string) => string;

/** The API's text where the type is not known. May be empty. Beside it stand the type and the URL. */
export function changeDetail(
  { type, details, changes }: Pick<Change, 'type' | 'details' | 'changes'>,
  t: Texts,
  time: Time,
): string {
  const told = t.changes.details;
  const { after, since = '', url = '', clientId = '', sessionId = '', deactivatesAt } = details;
  switch (type as keyof Texts['changes']['types']) {
    case 'CredentialIssued':
    case 'CredentialRevoked':
      return clientId;
    case 'PortalSessionEntered':
    case 'PortalSessionEnded':
      return sessionId;
    case 'PortalSessionOpened':
      return told.opened(details.user ?? null, rightsIn(details.can ?? [], t));
    case 'WebhookAdded':
    case 'WebhookUpdated':
      return headersIn(after, t);
    case 'WebhookDeactivated':
      if (details.reason === 'failing') return told.nothingSince(time(since));
      return details.reason === 'gone' ? told.gone : told.byAccount;
    case 'EndpointFailing':
      return told.failing(url, time(since));
    case 'EndpointRecovered':
      return url;
    case 'DeactivationAnnounced':
      return told.announced(url, time(deactivatesAt ?? ''));
    case 'NoticesSet':
      return [after?.url, headersIn(after, t)].filter(Boolean).join(', ');
    case 'RecoveryStarted':
      return recoveryIn(details, t, time);
    case 'RecoveryEnded':
      return t.recover.states[details.state as keyof typeof t.recover.states] ?? '';
    case 'AccountRegistered':
    case 'SigningSecretIssued':
    case 'SigningSecretsRevoked':
    case 'WebhookActivated':
    case 'WebhookRemoved':
    case 'NoticesRemoved':
    case 'IdempotencyKeyUsed':
      return '';
    default:
      return changes;
  }
}

function rightsIn(can: readonly string[], { menu }: Texts): string {
  return can.map((right) => menu.rights[right as keyof typeof menu.rights] ?? right).join(', ');
}

function headersIn(after: Change['details']['after'], t: Texts): string {
  const headers = after?.headers ?? [];
  return headers.length === 0 ? '' : t.changes.details.headers(headers.join(', '));
}

function recoveryIn({ count = 0, perSecond = 0, since = '', until = '' }: Change['details'], t: Texts, time: Time) {
  const { sends, perSecond: rate, span } = t.recover;
  return `${sends(count)}, ${rate(String(perSecond))}. ${span(time(since), time(until))}`;
}
