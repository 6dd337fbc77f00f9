/** Decides a command on an account's sessions and signing secrets by their state: events, or a refusal. Pure. */
import type { AccountCredentials, PortalSession } from '../read-model/accounts.js';
import { signingAt } from '../read-model/signing-secrets.js';
import type { CredentialEvent, PortalSessionOpened } from '../webhooks/events.js';

/** Open at the same time: each change of an account stores them all again. */
export const MAX_SESSIONS = 100;

/** Of an account: each adds a signature to every delivery, for the 24 hours after it was replaced. */
export const MAX_SIGNING_SECRETS = 5;

interface OpenSession {
  readonly type: 'OpenSession';
  readonly data: PortalSessionOpened['data'];
}

interface EnterSession {
  readonly type: 'EnterSession';
  readonly sessionId: string;
  readonly codeHash: string;
  readonly cookieHash: string;
  readonly at: string;
}

interface EndSession {
  readonly type: 'EndSession';
  readonly sessionId: string;
  readonly at: string;
}

interface RotateSigningSecret {
  readonly type: 'RotateSigningSecret';
  readonly sealed: string;
  readonly at: string;
}

export type CredentialCommand = OpenSession | EnterSession | EndSession | RotateSigningSecret;

export type CredentialDecision =
  | { readonly kind: 'accepted'; readonly events: readonly CredentialEvent[] }
  | { readonly kind: 'account-not-found' }
  /** The opener's credential was revoked, or its session ended, after the request was authenticated. */
  | { readonly kind: 'opener-ended' }
  | { readonly kind: 'session-not-found' }
  | { readonly kind: 'code-refused' }
  | { readonly kind: 'too-many-sessions' }
  | { readonly kind: 'too-many-secrets' };

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

/**
 * Those that are entered, or still can be.
 * @param time ISO 8601, UTC, ms: times of this form are ordered as texts
 */
export function openAt({ sessions }: Pick<AccountCredentials, 'sessions'>, time: string): readonly PortalSession[] {
  const canBeEntered = ({ cookieHash, codeUntil }: PortalSession) => cookieHash !== null || codeUntil > time;
  return sessions.filter((session) => session.until > time && canBeEntered(session));
}

function open(state: AccountCredentials, { data }: OpenSession): CredentialDecision {
  const others = openAt(state, data.openedAt);
  if (data.clientId !== null && !state.credentials.some(({ clientId }) => clientId === data.clientId)) {
    return { kind: 'opener-ended' };
  }
  if (data.parentId !== null && !others.some(({ id }) => id === data.parentId)) return { kind: 'opener-ended' };
  if (others.length >= MAX_SESSIONS) return { kind: 'too-many-sessions' };
  return accepted({ type: 'PortalSessionOpened', data });
}

function enter(sessions: readonly PortalSession[], command: EnterSession): CredentialDecision {
  const { sessionId, codeHash, cookieHash, at } = command;
  const session = sessions.find(({ id }) => id === sessionId);
  // Hashes of 256 random bits: the time that comparing them takes reveals nothing of use.
  const isGood = session && session.codeHash === codeHash && session.cookieHash === null && session.codeUntil > at;
  if (!isGood) return { kind: 'code-refused' };
  return accepted({ type: 'PortalSessionEntered', data: { sessionId, cookieHash, enteredAt: at } });
}

function end(sessions: readonly PortalSession[], { sessionId, at }: EndSession): CredentialDecision {
  if (!sessions.some(({ id }) => id === sessionId)) return { kind: 'session-not-found' };
  return accepted({ type: 'PortalSessionEnded', data: { sessionId, endedAt: at } });
}

function rotate({ signingSecrets }: AccountCredentials, { sealed, at }: RotateSigningSecret): CredentialDecision {
  if (signingAt(Date.parse(at), signingSecrets).length >= MAX_SIGNING_SECRETS) return { kind: 'too-many-secrets' };
  return accepted({ type: 'SigningSecretIssued', data: { sealed, issuedAt: at } });
}

function accepted(event: CredentialEvent): CredentialDecision {
  return { kind: 'accepted', events: [event] };
}
