/** Who looks, and what they may do. */
import { computed, signal } from '@preact/signals';
import { get, page, post, type Result, remove } from '../api/client.js';
import type { Right, Session, SessionPreview } from '../api/shapes.js';
import { addressOf } from './addresses.js';
import { now } from './now.js';
import { keep, kept } from './preferences.js';

/**
 * unknown-link: its code was used before, is older than a minute, or is none. not-kept: the browser keeps no cookie of a
 * page that is embedded in another site.
 */
type SignedOut = 'no-session' | 'unknown-link' | 'not-kept' | 'ended' | 'left' | 'unreachable';

export type SessionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'asking'; readonly code: string; readonly preview: SessionPreview }
  | { readonly kind: 'open'; readonly session: Session }
  | { readonly kind: 'closed'; readonly why: SignedOut; readonly returnUrl: string | null };

export const sessionState = signal<SessionState>({ kind: 'opening' });

/** What was typed stays: the page goes on once its user has opened the console again, in another tab. */
export const isOver = signal(false);

/** When the session ends, if that is soon. */
export const endsSoonAt = computed(() => {
  const state = sessionState.value;
  if (state.kind !== 'open' || isOver.value) return null;
  return Date.parse(state.session.expiresAt) - now.value < WARNED_MS ? state.session.expiresAt : null;
});

const WARNED_MS = 300_000;
/** The id of this tab's session in sessionStorage, and that of the tab that was used last in localStorage. */
const KEPT = 'session';
/** The account of the session that was open last in this browser: kept when its cookie has expired. */
const ACCOUNT = 'account';

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
  await (code ? enter(code) : returnToSession());
}

/** Asks first if the link may be someone else's. */
async function enter(code: string): Promise<void> {
  const result = await post('/console/session/preview', { body: { code } });
  unanswered = isAnswered(result) ? null : code;
  if (result.kind !== 'ok') return close(unanswered ? 'unreachable' : 'unknown-link');
  if (await mustAsk(result.data)) sessionState.value = { kind: 'asking', code, preview: result.data };
  else await redeem(code);
}

/** Signs this browser in to the account of the code. */
export async function redeem(code: string): Promise<void> {
  sessionState.value = { kind: 'opening' };
  const result = await post('/console/session', { body: { code } });
  unanswered = isAnswered(result) ? null : code;
  if (result.kind !== 'ok') return close(unanswered ? 'unreachable' : 'unknown-link');
  const { id, next } = result.data;
  const again = window.top === window ? result : await asked(id);
  if (again.kind === 'failed' && again.status === 401) return close('not-kept');
  if (next) history.replaceState(null, '', addressOf(next.replace(/^\/console(?=[/?]|$)/, '')));
  become(result.data);
}

/** To the session that this page, or else this browser, had. */
export async function returnToSession(): Promise<void> {
  const own = kept(KEPT, 'sessionStorage');
  const id = own ?? kept(KEPT);
  if (!id) return close('no-session');
  const result = await asked(id);
  if (result.kind === 'ok') return become(result.data);
  close(isAnswered(result) ? (own ? 'ended' : 'no-session') : 'unreachable');
}

/**
 * Whether the code could be that of someone else who wants this browser to work in their account: another account's session is
 * open, or the last one was of another account, or there was none. A link on the page of a portal that this browser works with is
 * trusted, but not what the code itself names as its returnUrl: whoever opened its session chose that. Only trusted pages can
 * embed this one.
 */
async function mustAsk({ account, hasOtherAccount, trustedOrigins }: SessionPreview): Promise<boolean> {
  if (window.top !== window || (!hasOtherAccount && kept(ACCOUNT) === String(account))) return false;
  const from = linkOrigin();
  if (from === null) return true;
  return !trustedOrigins.includes(from) && from !== (await portalOrigin());
}

/** A page that is reloaded, or returned to, keeps its referrer, but its code may have come from elsewhere since. */
function linkOrigin(): string | null {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation?.type === 'navigate' ? originOf(document.referrer) : null;
}

/** The origin of the returnUrl of the session that is open in this browser. */
async function portalOrigin(): Promise<string | null> {
  const id = kept(KEPT, 'sessionStorage') ?? kept(KEPT);
  const former = id ? await asked(id) : null;
  return former?.kind === 'ok' ? originOf(former.data.returnUrl) : null;
}

function originOf(url: string | null): string | null {
  return url && URL.canParse(url) ? new URL(url).origin : null;
}

const asked = (id: string) => get('/console/session', { session: id });

const isAnswered = (result: Result<unknown>) =>
  result.kind !== 'failed' || (result.status !== null && result.status < 500);

function become(session: Session): void {
  page.session = session.id;
  keep(KEPT, session.id, 'sessionStorage');
  keep(KEPT, session.id);
  keep(ACCOUNT, String(session.account));
  isOver.value = false;
  sessionState.value = { kind: 'open', session };
}

/** Goes on in the session that another tab entered, if it is of the same account, user and rights. */
async function goOn(): Promise<void> {
  const state = sessionState.peek();
  const latest = kept(KEPT);
  if (state.kind !== 'open') return;
  const found = latest && latest !== state.session.id ? await asked(latest) : null;
  if (sessionState.peek() !== state) return;
  if (found?.kind === 'ok' && identity(found.data) === identity(state.session)) become(found.data);
  else isOver.value = true;
}

const identity = ({ account, user, can }: Session) => JSON.stringify([account, user, can.toSorted()]);

page.onRefused = (session) => ifOpen((id) => id === session && goOn());
/** Another tab has entered a session, which may have ended this one, or is used. */
addEventListener('storage', () => ifOpen(asked));
// A link that is opened in a new tab leads on in the session of the page that it stands on.
for (const type of ['pointerdown', 'keydown'])
  addEventListener(type, () => isOver.peek() || ifOpen((id) => keep(KEPT, id)));

function ifOpen(act: (id: string) => unknown): void {
  const state = sessionState.peek();
  if (state.kind === 'open') act(state.session.id);
}

/** Failed: the service did not end the session, which is still open. */
export async function signOut(): Promise<Result<unknown>> {
  const result = await remove('/console/session');
  if (result.kind === 'failed' && result.status !== 401) return result;
  close('left');
  return { kind: 'same' };
}

export function may(right: Right): boolean {
  const state = sessionState.value;
  return state.kind === 'open' && state.session.can.includes(right);
}

function close(why: SignedOut): void {
  const state = sessionState.peek();
  sessionState.value = { kind: 'closed', why, returnUrl: state.kind === 'open' ? state.session.returnUrl : null };
}
