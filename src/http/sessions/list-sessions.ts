import { openAt } from '../../accounts/decide-credentials.js';
import type { Accounts } from '../../read-model/accounts.js';
import type { PortalSession } from '../../webhooks/state.js';
import { accountNotFound } from '../api-error.js';
import { type Operation, READ, type Route, refusal } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { TIME } from '../shared-schemas.js';
import { CAN, SESSION_ID } from './session-schemas.js';

const schema = {
  title: 'PortalSessionList',
  description: 'The open sessions of an account.',
  type: 'object',
  required: ['sessions'],
  properties: {
    sessions: {
      type: 'array',
      description: 'The sessions, oldest first.',
      items: {
        title: 'PortalSession',
        description: 'An open session.',
        type: 'object',
        required: ['id', 'user', 'can', 'openedAt', 'expiresAt'],
        properties: {
          id: SESSION_ID,
          user: { type: ['string', 'null'], description: 'The user. Null if none was named.' },
          can: CAN,
          openedAt: { ...TIME, description: 'When the session was opened.' },
          expiresAt: { ...TIME, description: 'When the session ends.' },
        },
      },
    },
  },
} as const;

const LIST_SESSIONS: Operation = {
  id: 'listSessions',
  ...READ,
  path: '/api/portal-sessions',
  tag: 'Sessions',
  summary: 'List open sessions',
  description: 'Lists the open sessions of the account, entered or not, oldest first.',
  right: 'secrets',
  responses: {
    200: { description: 'The open sessions of the account.', schema },
    404: refusal('The account is not registered.'),
  },
};

export function listSessions(accounts: Pick<Accounts, 'credentialsNow'>, now: () => Date, reading: Reading): Route {
  return readRoute(LIST_SESSIONS, reading, async (accountId) => {
    const found = await accounts.credentialsNow(accountId);
    if (!found) throw accountNotFound();
    return () => ({ sessions: openAt(found.credentials, now().toISOString()).map(shown) });
  });
}

function shown({ id, user, can, openedAt, until }: PortalSession) {
  return { id, user, can, openedAt, expiresAt: until };
}
