import type { Accounts } from '../../read-model/accounts.js';
import { accountNotFound } from '../api-error.js';
import { type Operation, READ, type Route, refusal } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { TIME } from '../shared-schemas.js';

const schema = {
  title: 'CredentialList',
  description: 'The credentials of an account.',
  type: 'object',
  required: ['credentials'],
  properties: {
    credentials: {
      type: 'array',
      description: 'Those that were not revoked, oldest first.',
      items: {
        title: 'Credential',
        description: 'A credential, without its secret.',
        type: 'object',
        required: ['clientId', 'issuedAt'],
        properties: {
          clientId: { type: 'string', description: 'The client id.' },
          issuedAt: { ...TIME, description: 'When it was issued.' },
        },
      },
    },
  },
} as const;

const LIST_CREDENTIALS: Operation = {
  id: 'listCredentials',
  ...READ,
  path: '/api/credentials',
  tag: 'Authentication',
  summary: 'List credentials',
  description: 'Lists the credentials with which tokens of the account are issued, without their secrets.',
  right: 'secrets',
  responses: {
    200: { description: 'The credentials of the account.', schema },
    404: refusal('The account is not registered.'),
  },
};

export function listCredentials(accounts: Pick<Accounts, 'credentialsNow'>, reading: Reading): Route {
  return readRoute(LIST_CREDENTIALS, reading, async (accountId) => {
    const found = await accounts.credentialsNow(accountId);
    if (!found) throw accountNotFound();
    const { credentials } = found.credentials;
    return () => ({ credentials: credentials.map(({ clientId, issuedAt }) => ({ clientId, issuedAt })) });
  });
}
