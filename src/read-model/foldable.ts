/**
 * What the folds need of an event. Events are checked before folding, which keeps folds from throwing: other applications
 * may write to the store, and an event is permanent. Fields that no fold reads are not checked, nor are event types that
 * none handles.
 */
import { NO_OBJECT, type RecordedEvent } from '../ports/event-store.js';

type Test = (value: unknown) => boolean;

const text: Test = (value) => typeof value === 'string';
const whole: Test = (value) => Number.isSafeInteger(value);
const texts: Test = (value) => Array.isArray(value) && value.every(text);
const headers: Test = (value) => Array.isArray(value) && value.every(isSealedHeader);
const textOrNull: Test = (value) => value === null || text(value);

const WEBHOOK = { webhookId: whole } as const;
const CONFIGURATION = { ...WEBHOOK, url: text, endpoint: text, headers, version: whole } as const;

interface Needed {
  readonly field: string;
  readonly test: Test;
}

const NEEDED: ReadonlyMap<string, readonly Needed[]> = new Map(
  Object.entries({
    AccountRegistered: { accountId: whole },
    CredentialIssued: { clientId: text, secretHash: text, issuedAt: text },
    CredentialRevoked: { clientId: text },
    SigningSecretIssued: { sealed: text, issuedAt: text },
    PortalSessionOpened: {
      ...{ sessionId: text, codeHash: text, codeUntil: text, until: text, openedAt: text, can: texts, actor: text },
      ...{ user: textOrNull, clientId: textOrNull, parentId: textOrNull, next: textOrNull, returnUrl: textOrNull },
    },
    PortalSessionEntered: { sessionId: text, cookieHash: text },
    PortalSessionEnded: { sessionId: text },
    WebhookAdded: { ...CONFIGURATION, eventType: text, createdAt: text },
    WebhookUpdated: { ...CONFIGURATION, updatedAt: text },
    WebhookActivated: { ...WEBHOOK, activatedAt: text },
    WebhookDeactivated: { ...WEBHOOK, reason: text, deactivatedAt: text },
    WebhookRemoved: WEBHOOK,
    EndpointFailing: { endpoint: text, since: text },
    DeactivationAnnounced: { endpoint: text, deactivatesAt: text },
    EndpointRecovered: { endpoint: text },
    RecoveryStarted: {
      ...{ recoveryId: text, webhookId: whole, since: text, until: text },
      ...{ include: texts, perSecond: whole, count: whole, startedAt: text },
    },
    RecoveryEnded: { recoveryId: text, state: text },
    NoticesSet: { url: text, endpoint: text, headers },
    NoticesRemoved: { removedAt: text },
  } satisfies Record<string, Record<string, Test>>).map(([type, fields]) => [
    type,
    Object.entries(fields).map(([field, test]) => ({ field, test })),
  ]),
);

/** Why the event can't be folded, a few words without any value from it; null if it can. */
export function whyUnfoldable({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): string | null {
  const needed = NEEDED.get(type);
  if (!needed) return null;
  if (data === NO_OBJECT) return 'its data is no JSON object';
  for (const { field, test } of needed) {
    if (test(data[field])) continue;
    return data[field] === undefined ? `its data has no ${field}` : `its ${field} is not what it should be`;
  }
  return null;
}

function isSealedHeader(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { key, sealed } = value as { key?: unknown; sealed?: unknown };
  return typeof key === 'string' && typeof sealed === 'string';
}
