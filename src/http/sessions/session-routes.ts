/** The routes of sessions: for whoever opens them, and for the browser that is in one. */
import type { Accounts } from '../../read-model/accounts.js';
import type { Admission } from '../admission.js';
import { type ConsoleSessionParts, enterSession, leaveSession, showSession } from './console-session.js';
import { openSession } from './open-session.js';
import { endSession, listSessions } from './portal-sessions.js';
import { createSessionCookies } from './session-cookie.js';

export interface SessionParts extends Omit<ConsoleSessionParts, 'cookies'> {
  readonly accounts: Accounts;
  /** The service's public URL, without a trailing slash; null: the Host of each request. */
  readonly publicUrl: string | null;
}

export function sessionRoutes(parts: SessionParts, admission: Admission) {
  const { accounts, changeCredentials, publicUrl, now } = parts;
  const cookies = createSessionCookies(publicUrl);
  return [
    openSession(changeCredentials, parts.randomBytes, publicUrl, now),
    listSessions(accounts, now, admission),
    endSession(changeCredentials, now),
    enterSession({ ...parts, cookies }),
    showSession(),
    leaveSession(changeCredentials, cookies, now),
  ];
}
