/** What a change in the history says beyond its type, in the reader's language. */
import type { Change } from '../api/shapes.js';
import type { Texts } from '../texts/en.js';

type Details = Change['details'];
type Time = (iso: string) => string;
type Told = (details: Details, texts: Texts, time: Time) => string;

const client: Told = ({ clientId = '' }) => clientId;
const session: Told = ({ sessionId = '' }) => sessionId;
/** Of what was added, or changed in its headers: their names since. */
const headers: Told = ({ before, after, headersChanged }, { changes }) => {
  const names = after && (!before || headersChanged) ? after.headers.join(', ') : '';
  return names && changes.details.headers(names);
};

/** Beside it stand the type and the URL. */
const DETAILS: Readonly<Partial<Record<string, Told>>> = {
  CredentialIssued: client,
  CredentialRevoked: client,
  PortalSessionOpened: ({ user = null, can = [] }, { changes, menu }) =>
    changes.details.opened(
      user,
      can.map((right) => menu.rights[right as keyof typeof menu.rights] ?? right).join(', '),
    ),
  PortalSessionEntered: session,
  PortalSessionEnded: session,
  WebhookAdded: headers,
  WebhookUpdated: headers,
  WebhookDeactivated: ({ reason, since = '' }, { changes: { details: t } }, time) =>
    reason === 'failing' ? t.nothingSince(time(since)) : reason === 'gone' ? t.gone : t.byAccount,
  EndpointFailing: ({ url = '', since = '' }, { changes }, time) => changes.details.failing(url, time(since)),
  EndpointRecovered: ({ url = '' }) => url,
  DeactivationAnnounced: ({ url = '', deactivatesAt }, { changes }, time) =>
    changes.details.announced(url, time(deactivatesAt ?? '')),
  NoticesSet: (details, ...rest) => [details.after?.url, headers(details, ...rest)].filter(Boolean).join(', '),
  RecoveryStarted: ({ count = 0, perSecond = 0, since = '', until = '' }, { recover: t }, time) =>
    `${t.sends(count)}, ${t.perSecond(String(perSecond))}. ${t.span(time(since), time(until))}`,
  RecoveryEnded: ({ state }, { recover }) => recover.states[state as keyof typeof recover.states] ?? '',
};

/** The API's text where the type is not known. May be empty. */
export function changeDetail(
  { type, details, changes }: Pick<Change, 'type' | 'details' | 'changes'>,
  t: Texts,
  time: Time,
) {
  if (!Object.hasOwn(t.changes.types, type)) return changes;
  return DETAILS[type]?.(details, t, time) ?? '';
}
