/** GET /api/credentials: which get tokens for the account; and the metadata that says where and how they do (RFC 8414). */
import { PUBLISHER_SCOPE } from '../../accounts/access-tokens.js';
import type { Accounts } from '../../read-model/accounts.js';
import { registered } from '../api-error.js';
import { type Operation, READ, type Route, refusal, route } from '../operation.js';
import { type Reading, readRoute } from '../read-answer.js';
import { serviceUrl } from '../sessions/open-session.js';
import { TIME } from '../shared-schemas.js';
import { ISSUE_TOKEN, SCOPE } from './issue-token.js';

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
    const found = registered(await accounts.credentialsNow(accountId));
    const { credentials } = found.credentials;
    return () => ({ credentials: credentials.map(({ clientId, issuedAt }) => ({ clientId, issuedAt })) });
  });
}

const texts = (description: string) => ({ type: 'array', description, items: { type: 'string' } }) as const;

const SHOW_AUTHORIZATION_SERVER: Operation = {
  id: 'showAuthorizationServer',
  method: 'get',
  path: '/.well-known/oauth-authorization-server',
  tag: 'Authentication',
  summary: 'Get the OAuth metadata',
  description: 'Returns the authorization server metadata of RFC 8414: where and how tokens are issued.',
  security: 'none',
  responses: {
    200: {
      description:
        'The metadata. Its URLs begin with PUBLIC_URL or, if that is not set, with http:// and the Host of the request.',
      schema: {
        title: 'AuthorizationServer',
        description: 'Authorization server metadata of RFC 8414 section 2.',
        type: 'object',
        required: ['issuer', 'token_endpoint', 'response_types_supported', 'grant_types_supported'],
        properties: {
          issuer: { type: 'string', format: 'uri', description: 'The URL of the service.' },
          token_endpoint: { type: 'string', format: 'uri', description: 'The URL that issues tokens.' },
          token_endpoint_auth_methods_supported: texts('The client authentication methods of the token endpoint.'),
          grant_types_supported: texts('The grant types of the token endpoint.'),
          response_types_supported: texts('Empty: there is no authorization endpoint.'),
          scopes_supported: texts('The scopes of accounts and of publishers.'),
        },
      },
    },
    400: refusal('The Host header is missing or is not a valid host.'),
  },
};

/** `issuer` here is not a token's `iss`, AUTH_ISSUER: tokens are opaque to clients. @param publicUrl see serviceUrl */
export function showAuthorizationServer(publicUrl: string | null): Route {
  return route(SHOW_AUTHORIZATION_SERVER, (ctx) => {
    const issuer = serviceUrl(ctx, publicUrl);
    ctx.body = {
      issuer,
      token_endpoint: issuer + ISSUE_TOKEN.path,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      grant_types_supported: ['client_credentials'],
      // Required by RFC 8414 2, and empty because no grant has an authorization endpoint.
      response_types_supported: [],
      scopes_supported: [SCOPE, PUBLISHER_SCOPE],
    };
  });
}
