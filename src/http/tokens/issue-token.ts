/**
 * POST /oauth/token: OAuth 2.0 client credentials (RFC 6749 4.4), with errors in the form of its section 5.2. A token may do
 * everything that its account or publisher may do: the kind of client decides on the scope, and the response names it,
 * whatever the request asked for (3.3).
 */
import type { Context, Next } from 'koa';
import { PUBLISHER_SCOPE } from '../../accounts/access-tokens.js';
import { ownerOf, secretMatches } from '../../accounts/client-credentials.js';
import type { OwnTokens } from '../../accounts/own-tokens.js';
import type { Accounts } from '../../read-model/accounts.js';
import { always, object, oneOf, optional, text, whole } from '../../schema.js';
import type { ClientOwner } from '../../webhooks/events.js';
import { ApiError, notNow, retryAfter } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { operation, route } from '../operation.js';

/** The status of each error. RFC 6749 has no error for too many requests; the name is from its section 4.1.2.1. */
const STATUS = {
  invalid_request: 400,
  unsupported_grant_type: 400,
  invalid_client: 401,
  temporarily_unavailable: 429,
} as const;

type TokenError = keyof typeof STATUS;

export const SCOPE = 'webhooks';

interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

class Refusal extends Error {
  constructor(
    readonly error: TokenError,
    description: string,
  ) {
    super(description);
  }
}

const OAUTH_ERROR = object('TokenError', 'An error of RFC 6749 section 5.2.', {
  error: oneOf(Object.keys(STATUS) as TokenError[], 'The error code.', { title: 'TokenErrorCode' }),
  error_description: optional(text('A human-readable description of the problem.')),
});
const oauthRefusal = (description: string) => ({ description, schema: OAUTH_ERROR });

const REQUEST = object('TokenRequest', 'A request for an access token.', {
  grant_type: always('client_credentials', 'The only grant type of this service.'),
  client_id: optional(text('The client id, if it is not sent by HTTP Basic.')),
  client_secret: optional(text('The client secret, if it is not sent by HTTP Basic.')),
  scope: optional(text('Ignored: the response names the issued scope.')),
});

const ACCESS_TOKEN = object('AccessToken', 'An access token of RFC 6749 section 5.1.', {
  access_token: text('Send it as `Authorization: Bearer <access_token>`.'),
  token_type: always('Bearer', 'Always Bearer.'),
  expires_in: whole('How long the token is valid, in seconds.'),
  scope: oneOf([SCOPE, PUBLISHER_SCOPE], 'The issued scope: that of an account, or of a publisher.'),
});

export const ISSUE_TOKEN = operation({
  id: 'issueToken',
  method: 'post',
  path: '/oauth/token',
  description: 'Issues a token for client credentials (RFC 6749 4.4), sent by HTTP Basic or in the form.',
  security: 'client',
  rateLimit: 'tokens',
  body: { type: 'form', schema: REQUEST },
  responses: {
    200: { description: 'The access token.', schema: ACCESS_TOKEN },
    400: oauthRefusal('`invalid_request` or `unsupported_grant_type`: the form is not valid or could not be read.'),
    401: oauthRefusal('`invalid_client`: the client id or secret is missing or not valid.'),
    413: oauthRefusal('`invalid_request`: the form exceeds 65,536 bytes.'),
    415: oauthRefusal('`invalid_request`: the Content-Encoding is not supported.'),
    503: oauthRefusal('`temporarily_unavailable`: the event store is unavailable. Retry-After says when to try again.'),
    429: oauthRefusal('`temporarily_unavailable`: too many tokens. Retry-After says when to try again.'),
  },
});

/** Around the reading of the form, so that errors about a large or unreadable body also have the form of section 5.2. */
export async function tokenErrors(ctx: Context, next: Next): Promise<void> {
  ctx.set('pragma', 'no-cache');
  try {
    await next();
  } catch (error) {
    const outage = notNow(error);
    const known = outage ?? error;
    if (known instanceof Refusal) return answer(ctx, STATUS[known.error], known.error, known.message);
    if (!(known instanceof ApiError)) throw known;
    ctx.set({ ...known.details.headers });
    answer(ctx, known.status, outage ? 'temporarily_unavailable' : 'invalid_request', known.message);
  }
}

function answer(ctx: Context, status: number, error: TokenError, error_description: string): void {
  ctx.status = status;
  // A client whose credentials are in the form is not asked for Basic.
  const isInForm = ctx.get('authorization') === '' && /(^|&)client_(id|secret)=[^&]/.test(String(ctx.request.body));
  if (status === 401 && !isInForm) ctx.set('www-authenticate', 'Basic realm="account-webhooks"');
  ctx.body = { error, error_description };
}

export function issueToken({ accounts, rateLimits }: ApiParts, tokens: OwnTokens) {
  return route(ISSUE_TOKEN, async (ctx) => {
    const client = clientOf(ctx);
    const owner = await authenticated(client, accounts);
    if (owner === null) throw new Refusal('invalid_client', 'the client id or secret is not valid');
    // Counted only now: a client without the secret can't use up the account's requests.
    const waitMs = rateLimits.tokens(owner);
    if (waitMs > 0) {
      ctx.set({ ...retryAfter(waitMs).headers });
      throw new Refusal('temporarily_unavailable', 'too many token requests; Retry-After says when to try again');
    }
    const { token, expiresInSeconds } = await tokens.issue(owner, client.clientId);
    const scope = typeof owner === 'number' ? SCOPE : PUBLISHER_SCOPE;
    ctx.body = { access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds, scope };
  });
}

/** @throws Refusal */
function clientOf(ctx: Context): ClientCredentials {
  const form = parametersIn(ctx.request.body);
  const grantType = form.get('grant_type');
  if (new Set(form.keys()).size < form.size) throw new Refusal('invalid_request', 'a parameter is repeated');
  if (!grantType) throw new Refusal('invalid_request', 'grant_type is missing from the form');
  if (grantType !== 'client_credentials') {
    throw new Refusal('unsupported_grant_type', 'grant_type must be client_credentials');
  }
  const basic = ctx.get('authorization');
  if (basic === '') return fromForm(form);
  if (form.has('client_secret')) throw new Refusal('invalid_request', 'use one client authentication method, not two');
  return fromBasic(basic);
}

/** Without a value it counts as omitted (RFC 6749 3.2). `resource` may be repeated (RFC 8707 2) and is ignored. */
function parametersIn(body: unknown): URLSearchParams {
  const parameters = [...new URLSearchParams(typeof body === 'string' ? body : '')];
  return new URLSearchParams(parameters.filter(([name, value]) => value !== '' && name !== 'resource'));
}

function fromForm(form: URLSearchParams): ClientCredentials {
  const [clientId = '', clientSecret = ''] = ['client_id', 'client_secret'].map((name) => form.get(name) ?? '');
  if (clientId + clientSecret === '') throw new Refusal('invalid_client', 'client credentials are missing');
  return { clientId, clientSecret };
}

/** RFC 6749 2.3.1: form-encoded, joined by a colon, then base64. Our own ids and secrets need no encoding. */
function fromBasic(authorization: string): ClientCredentials {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1] ?? '';
  const [clientId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const clientSecret = rest.join(':');
  return { clientId: formDecoded(clientId), clientSecret: formDecoded(clientSecret) };
}

function formDecoded(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') ?? '';
}

async function authenticated(client: ClientCredentials, accounts: Accounts): Promise<ClientOwner | null> {
  const owner = ownerOf(client.clientId);
  if (owner === null) return null;
  const credential = await accounts.credential(owner, client.clientId);
  return credential && secretMatches(client.clientSecret, credential.secretHash) ? owner : null;
}
