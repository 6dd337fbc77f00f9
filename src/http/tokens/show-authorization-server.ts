import { PUBLISHER_SCOPE } from '../../accounts/access-tokens.js';
import { type Operation, type Route, refusal, route } from '../operation.js';
import { serviceUrl } from '../sessions/open-session.js';
import { ISSUE_TOKEN, SCOPE } from './issue-token.js';

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

/** @param publicUrl as for serviceUrl */
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
