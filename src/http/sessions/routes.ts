import type { ApiParts } from '../api-parts.js';
import { enterSession, leaveSession, showSession } from './console-session.js';
import { endSession, listSessions, openSession } from './portal-sessions.js';

export const routes = (parts: ApiParts) => [
  openSession(parts),
  listSessions(parts),
  endSession(parts),
  enterSession(parts),
  showSession(),
  leaveSession(parts),
];
