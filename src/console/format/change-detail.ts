/** What a change in the history says beyond its type: read out of the API's text, in the reader's language. */
import type { Schema } from '../api/shapes.js';
import type { Texts } from '../texts/en.js';
import { switchedOff } from './switched-off.js';

/** @param groups of the pattern; undefined: it has no such part */
type Told = (groups: readonly (string | undefined)[], t: Texts, time: (iso: string) => string) => string;

const NOTHING: Told = () => '';
const FIRST: Told = ([first = '']) => first;

/** Beside it stand the type and the URL. */
const HEADERS: Told = ([headers], t) => (headers === undefined ? '' : t.changes.details.headers(headers));

/** Events of an account. The API's document leaves their types open: later releases may have others. */
type ChangeType = keyof Texts['changes']['types'];

const DETAILS: Readonly<Record<ChangeType, readonly [RegExp, Told]>> = {
  AccountRegistered: [/^account \d+ registered$/, NOTHING],
  CredentialIssued: [/^credential (.*) issued$/s, FIRST],
  CredentialRevoked: [/^credential (.*) revoked$/s, FIRST],
  SigningSecretIssued: [/^signing secret issued$/, NOTHING],
  SigningSecretsRevoked: [/^earlier signing secrets revoked$/, NOTHING],
  PortalSessionOpened: [
    /^session \S+ opened(?: for (.*))?: ([a-z, ]*) until \S+$/s,
    ([user, can = ''], { menu, changes }) => {
      const rights = can.split(', ').map((right) => menu.rights[right as keyof typeof menu.rights] ?? right);
      return changes.details.opened(user ?? null, rights.join(', '));
    },
  ],
  PortalSessionEntered: [/^session (\S+) entered$/, FIRST],
  PortalSessionEnded: [/^session (\S+) ended$/, FIRST],
  WebhookAdded: [/^added: .*? v\d+(?:, headers (.*))?$/s, HEADERS],
  WebhookUpdated: [/^updated: .*? v\d+(?:, headers (.*))?$/s, HEADERS],
  WebhookActivated: [/^activated$/, NOTHING],
  WebhookDeactivated: [/^deactivated: (.*)$/s, ([reason = ''], t, time) => switchedOff(reason, t, time)],
  WebhookRemoved: [/^removed$/, NOTHING],
  EndpointFailing: [
    /^(\S+) has accepted no delivery since (\S+)$/,
    ([url = '', since = ''], t, time) => t.changes.details.failing(url, time(since)),
  ],
  EndpointRecovered: [/^(\S+) accepts deliveries again$/, FIRST],
  DeactivationAnnounced: [
    /^(\S+) is deactivated at (\S+) unless it accepts a delivery$/,
    ([url = '', at = ''], t, time) => t.changes.details.announced(url, time(at)),
  ],
  NoticesSet: [
    /^notices go to (\S+?)(?:, headers (.*))?$/s,
    ([url = '', headers], t) => (headers === undefined ? url : `${url}, ${t.changes.details.headers(headers)}`),
  ],
  NoticesRemoved: [/^no notices are sent$/, NOTHING],
  RecoveryStarted: [
    /^recovery \S+ of webhooks? [\d, ]+ started: (\d+) deliveries of (\S+) to (\S+), (\d+) a second$/,
    ([count = '', since = '', until = '', rate = ''], t, time) =>
      `${t.recover.preview.sends(Number(count), count)}, ${t.recover.perSecond(Number(rate))}. ${t.recover.preview.span(time(since), time(until))}`,
  ],
  RecoveryEnded: [
    /^recovery \S+ (\w+)(?:: \d+ could not be sent)?$/,
    ([state = ''], { recover }) => recover.states[state as keyof typeof recover.states] ?? state,
  ],
  IdempotencyKeyUsed: [/^registered again without a change$/, NOTHING],
};

/** The API's text where it is not known. May be empty. */
export function changeDetail(
  { type, changes }: Pick<Schema<'Change'>, 'type' | 'changes'>,
  t: Texts,
  time: (iso: string) => string,
): string {
  if (!Object.hasOwn(DETAILS, type)) return changes;
  const [pattern, told] = DETAILS[type as ChangeType];
  const match = pattern.exec(changes);
  return match ? told(match.slice(1), t, time) : changes;
}
