/** GET /api/credentials: which get tokens for the account; and the metadata that says where and how they do (RFC 8414). */
import { PUBLISHER_SCOPE } from '../../accounts/access-tokens.js';
import { list, object, optional, type Schema, text, time, url } from '../../schema.js';
import { registered } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { operation, route } from '../operation.js';
import { read } from '../read-answer.js';
import { serviceUrl } from '../sessions/portal-sessions.js';
import { ISSUE_TOKEN, issueToken, SCOPE } from './issue-token.js';

const CREDENTIAL = object('Credential', 'A credential, without its secret.', {
  clientId: text('The client id.'),
  issuedAt: time('When it was issued.'),
});

const listCredentials = read({
  id: 'listCredentials',
  path: '/api/credentials',
  description: 'Lists the credentials with which tokens of the account are issued, without their secrets.',
  right: 'secrets',
  usesReserve: true,
  returns: object('CredentialList', 'The credentials of the account.', {
    credentials: list('Those that were not revoked, oldest first.', CREDENTIAL),
  }),
}).answer(async ({ accounts }, { accountId }) => {
  const found = registered(await accounts.credentialsNow(accountId));
  const { credentials } = found.credentials;
  return () => ({ credentials: credentials.map(({ clientId, issuedAt }) => ({ clientId, issuedAt })) });
});

const several = (description: string) => list(description, { type: 'string' } as Schema<string>);

const SHOW_AUTHORIZATION_SERVER = operation({
  id: 'showAuthorizationServer',
  method: 'get',
  path: '/.well-known/oauth-authorization-server',
  description: 'Returns the authorization server metadata of RFC 8414: where and how tokens are issued.',
  security: 'none',
  returns: object(
    'AuthorizationServer',
    'The metadata. Its URLs begin with PUBLIC_URL or, without it, with http:// and the Host.',
    {
      issuer: url('The URL of the service.'),
      token_endpoint: url('The URL that issues tokens.'),
      token_endpoint_auth_methods_supported: optional(
        several('The client authentication methods of the token endpoint.'),
      ),
      grant_types_supported: several('The grant types of the token endpoint.'),
      response_types_supported: several('Empty: there is no authorization endpoint.'),
      scopes_supported: optional(several('The scopes of accounts and of publishers.')),
    },
  ),
  refusals: { 400: 'The Host header is missing or is not a valid host.' },
});

/** `issuer` here is not a token's `iss`, AUTH_ISSUER: tokens are opaque to clients. */
function showAuthorizationServer({ publicUrl }: ApiParts) {
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

/** Another issuer's tokens: then none are issued here. */
export const routes = (parts: ApiParts) => [
  listCredentials(parts),
  ...(parts.ownTokens ? [issueToken(parts, parts.ownTokens), showAuthorizationServer(parts)] : []),
];
