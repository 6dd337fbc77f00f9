/** Decides a command on an account's sessions and signing secrets by their state: events, or a refusal. Pure. */
import { signingAt } from '../read-model/sealed-values.js';
import type { CredentialEvent, PortalSessionOpened } from '../webhooks/events.js';
import type { AccountCredentials, PortalSession } from '../webhooks/state.js';

/** Open at the same time: each change of an account stores them all again. */
export const MAX_SESSIONS = 100;
/** Of an account: each adds a signature to every delivery, for the 24 hours after it was replaced. */
export const MAX_SIGNING_SECRETS = 5;

type OpenSession = { readonly type: 'OpenSession'; readonly data: PortalSessionOpened['data'] };

interface EnterSession {
  readonly type: 'EnterSession';
  readonly sessionId: string;
  readonly codeHash: string;
  readonly cookieHash: string;
  /** By the cookies of the browser that enters. */
  readonly former: readonly { readonly sessionId: string; readonly hash: string }[];
  readonly at: string;
}

type EndSession = { readonly type: 'EndSession'; readonly sessionId: string; readonly at: string };

interface RotateSigningSecret {
  readonly type: 'RotateSigningSecret';
  readonly sealed: string;
  /** The earlier ones sign nothing more. */
  readonly revokePrevious: boolean;
  readonly at: string;
}

export type CredentialCommand = OpenSession | EnterSession | EndSession | RotateSigningSecret;

/** As in webhooks/decide.ts: the kind of a refusal is its code in the API. */
export type CredentialDecision =
  | { readonly kind: 'accepted'; readonly events: readonly CredentialEvent[] }
  | { readonly kind: 'account-not-found' }
  /** The opener's credential was revoked after the request was authenticated. */
  | { readonly kind: 'token-invalid'; readonly params: { readonly why: string } }
  | { readonly kind: 'session-not-found' }
  | { readonly kind: 'code-refused'; readonly field: 'code' }
  | { readonly kind: 'too-many-secrets'; readonly params: { readonly limit: number } };

/** @param state null if the account was never registered */
export function decideCredentials(state: AccountCredentials | null, command: CredentialCommand): CredentialDecision {
  if (state === null || state.accountId === null) return { kind: 'account-not-found' };
  switch (command.type) {
    case 'OpenSession':
      return open(state, command);
    case 'EnterSession':
      return enter(openAt(state, command.at), command);
    case 'EndSession':
      return end(openAt(state, command.at), command);
    case 'RotateSigningSecret':
      return rotate(state, command);
    default:
      return command satisfies never;
  }
}

/** Those entered, or that still can be. @param time ISO 8601, UTC, ms: times of this form are ordered as texts */
export function openAt({ sessions }: Pick<AccountCredentials, 'sessions'>, time: string): readonly PortalSession[] {
  const canBeEntered = ({ cookieHash, codeUntil }: PortalSession) => cookieHash !== null || codeUntil > time;
  return sessions.filter((session) => session.until > time && canBeEntered(session));
}

function open(state: AccountCredentials, { data }: OpenSession): CredentialDecision {
  const others = openAt(state, data.openedAt);
  if (data.clientId !== null && !state.credentials.some(({ clientId }) => clientId === data.clientId)) {
    return { kind: 'token-invalid', params: { why: 'the credential of the token was revoked' } };
  }
  const leaving = others.length < MAX_SESSIONS ? [] : [oldestOfMost(others)];
  return accepted(...leaving.map((one) => ended(one, data.openedAt)), { type: 'PortalSessionOpened', data });
}

/**
 * The oldest session of the user with the most, among those of the client with the most. First by client: whoever holds a
 * credential can name any number of users.
 */
function oldestOfMost(open: readonly PortalSession[]): PortalSession {
  const ofClient = mostFrequent(open, openerOf);
  return mostFrequent(ofClient, ({ actor }) => actor)[0] as PortalSession;
}

/** The actor of a session is `<opener>/<user>`, and a user has no slash. */
function openerOf({ actor }: PortalSession): string {
  return actor.slice(0, actor.lastIndexOf('/'));
}

/** The largest group, in its order; the first of several. */
function mostFrequent<T>(items: readonly T[], keyOf: (item: T) => string): readonly T[] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()].reduce((most, group) => (group.length > most.length ? group : most), []);
}

function enter(sessions: readonly PortalSession[], command: EnterSession): CredentialDecision {
  const { sessionId, codeHash, cookieHash, former, at } = command;
  const session = sessions.find(({ id }) => id === sessionId);
  // Hashes of 256 random bits: the time that comparing them takes reveals nothing of use.
  const isGood = session && session.codeHash === codeHash && session.cookieHash === null && session.codeUntil > at;
  if (!isGood) return { kind: 'code-refused', field: 'code' };
  const entered = { type: 'PortalSessionEntered', data: { sessionId, cookieHash, enteredAt: at } } as const;
  const ofBrowser = ({ id, cookieHash: hash }: PortalSession) =>
    former.some((one) => one.sessionId === id && one.hash === hash);
  const replaced = alike(sessions, session).filter(ofBrowser);
  return accepted(...replaced.map((one) => ended(one, at)), entered);
}

/** Of the same user with the same rights. */
function alike(sessions: readonly PortalSession[], { actor, can }: PortalSession): readonly PortalSession[] {
  const rights = can.toSorted().join();
  return sessions.filter((one) => one.actor === actor && one.can.toSorted().join() === rights);
}

function end(sessions: readonly PortalSession[], { sessionId, at }: EndSession): CredentialDecision {
  const session = sessions.find(({ id }) => id === sessionId);
  return session ? accepted(ended(session, at)) : { kind: 'session-not-found' };
}

function rotate(state: AccountCredentials, command: RotateSigningSecret): CredentialDecision {
  const { sealed, revokePrevious, at } = command;
  const issued = { type: 'SigningSecretIssued', data: { sealed, issuedAt: at } } as const;
  if (revokePrevious) return accepted(issued, { type: 'SigningSecretsRevoked', data: { revokedAt: at } });
  const signing = signingAt(Date.parse(at), state.signingSecrets);
  if (signing.length < MAX_SIGNING_SECRETS) return accepted(issued);
  return { kind: 'too-many-secrets', params: { limit: MAX_SIGNING_SECRETS } };
}

function ended({ id }: PortalSession, at: string): CredentialEvent {
  return { type: 'PortalSessionEnded', data: { sessionId: id, endedAt: at } };
}

const accepted = (...events: readonly CredentialEvent[]) => ({ kind: 'accepted', events }) as const;
