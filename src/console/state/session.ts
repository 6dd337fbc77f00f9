/** Who looks, and what they may do. */
import { signal } from '@preact/signals';
import { api, resultOf } from '../api/client.js';
import type { Right, Session } from '../api/shapes.js';
import { addressOf } from './addresses.js';

/**
 * unknown-link: its code was used before, is older than a minute, or is none. not-kept: the browser keeps no cookie of a
 * page that is embedded in another site.
 */
type SignedOut = 'no-session' | 'unknown-link' | 'not-kept' | 'ended' | 'left' | 'unreachable';

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'open'; readonly session: Session }
  | { readonly kind: 'closed'; readonly why: SignedOut; readonly returnUrl: string | null };

export const sessionState = signal<SessionState>({ kind: 'opening' });

/** A code that the service has not answered about. */
let unanswered: string | null = null;

/** Of the link that opened the page. It has no place in the address, the history or a screenshot. */
function takenCode(): string | null {
  const code = unanswered ?? new URLSearchParams(location.hash.slice(1)).get('code');
  if (code) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

export async function openSession(): Promise<void> {
  const code = takenCode();
  const call = code ? api.POST('/console/session', { body: { code } }) : api.GET('/console/session');
  const result = await resultOf<Session>(call);
  const isAnswered = result.kind !== 'failed' || (result.status !== null && result.status < 500);
  unanswered = isAnswered ? null : code;
  if (result.kind === 'ok') {
    if (code && window.top !== window && !(await isKept())) return close('not-kept');
    if (code && result.data.next) history.replaceState(null, '', addressOf(withoutConsole(result.data.next)));
    sessionState.value = { kind: 'open', session: result.data };
    return;
  }
  close(isAnswered ? (code ? 'unknown-link' : 'no-session') : 'unreachable');
}

async function isKept(): Promise<boolean> {
  const result = await resultOf<Session>(api.GET('/console/session'));
  return result.kind !== 'failed' || result.status !== 401;
}

/** A path of the console, which may begin with /console. */
const withoutConsole = (next: string) => next.replace(/^\/console(?=[/?]|$)/, '');

export function sessionEnded(): void {
  if (sessionState.peek().kind === 'open') close('ended');
}

/** False: the service did not end the session, which is still open. */
export async function signOut(): Promise<boolean> {
  const result = await resultOf(api.DELETE('/console/session', { params: { header: { 'X-Console': '1' } } }));
  if (result.kind === 'failed' && result.status !== 401) return false;
  close('left');
  return true;
}

export function may(right: Right): boolean {
  const state = sessionState.value;
  return state.kind === 'open' && state.session.can.includes(right);
}

function close(why: SignedOut): void {
  const state = sessionState.peek();
  sessionState.value = { kind: 'closed', why, returnUrl: state.kind === 'open' ? state.session.returnUrl : null };
}
