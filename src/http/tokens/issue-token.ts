/**
 * POST /oauth/token: OAuth 2.0 client credentials (RFC 6749 4.4), with errors in the form of its section 5.2. A token may do
 * everything that its account or publisher may do: the kind of client decides on the scope, and the response names it,
 * whatever the request asked for (3.3).
 */
import type { Context } from 'koa';
import { PUBLISHER_SCOPE } from '../../accounts/access-tokens.js';
import { ownerOf, secretMatches } from '../../accounts/client-credentials.js';
import type { OwnTokens } from '../../accounts/own-tokens.js';
import type { Accounts } from '../../read-model/accounts.js';
import { always, object, oneOf, optional, text, whole } from '../../schema.js';
import { ApiError, assertWithin, notNow } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { readForm } from '../body.js';
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

class Refusal extends Error {
  constructor(
    readonly error: TokenError,
    description: string,
    readonly headers: Readonly<Record<string, string>> = {},
    readonly status: number = STATUS[error],
  ) {
    super(description);
  }
}

const OAUTH_ERROR = object('TokenError', 'An error of RFC 6749 section 5.2.', {
  error: oneOf(Object.keys(STATUS) as TokenError[], 'The error code.', { title: 'TokenErrorCode' }),
  error_description: optional(text('A human-readable description of the problem.')),
});

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
  returns: ACCESS_TOKEN,
  refusal: OAUTH_ERROR,
  refusals: {
    400: '`invalid_request` or `unsupported_grant_type`: the form is not valid or could not be read.',
    401: '`invalid_client`: the client id or secret is missing or not valid.',
    413: '`invalid_request`: the form exceeds 8,192 bytes.',
    415: '`invalid_request`: the Content-Encoding is not supported.',
    503: '`temporarily_unavailable`: the event store is unavailable, or too many unknown client ids were looked up in it. Retry-After says when to try again.',
    429: '`temporarily_unavailable`: too many tokens. Retry-After says when to try again.',
  },
});

const BASIC = { 'www-authenticate': 'Basic realm="account-webhooks"' };

export function issueToken({ accounts, rateLimits, reserve }: ApiParts, tokens: OwnTokens) {
  return route(ISSUE_TOKEN, async (ctx) => {
    ctx.set('pragma', 'no-cache');
    try {
      const { owner, clientId } = await authenticated(ctx, accounts);
      // Counted only now: a client without the secret can't use up the account's requests. Each client has a reserve, because
      // revoking a stolen credential takes a token.
      assertWithin(rateLimits.tokens, reserve.requester(owner, clientId));
      const { token, expiresInSeconds } = await tokens.issue(owner, clientId);
      const scope = typeof owner === 'number' ? SCOPE : PUBLISHER_SCOPE;
      ctx.body = { access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds, scope };
    } catch (failure) {
      const { status, headers, error, message: error_description } = refusalOf(failure);
      ctx.status = status;
      ctx.set(headers);
      ctx.body = { error, error_description };
    }
  });
}

/** Also errors about the body and outages have the form of section 5.2. @throws any other error */
function refusalOf(failure: unknown): Refusal {
  if (failure instanceof Refusal) return failure;
  const known = notNow(failure) ?? failure;
  if (!(known instanceof ApiError)) throw known;
  const error = known.status < 429 ? 'invalid_request' : 'temporarily_unavailable';
  return new Refusal(error, known.message, known.details.headers, known.status);
}

/** @throws Refusal */
async function authenticated(ctx: Context, accounts: Accounts) {
  const form = parametersIn(await readForm(ctx));
  const basic = ctx.get('authorization');
  const [clientId = '', clientSecret = ''] = clientOf(form, basic);
  const owner = ownerOf(clientId);
  const credential = owner === null ? undefined : await accounts.credential(owner, clientId);
  if (owner !== null && credential && secretMatches(clientSecret, credential.secretHash)) return { owner, clientId };
  // A client whose credentials are in the form is not asked for Basic.
  const isInForm = basic === '' && clientId + clientSecret !== '';
  throw new Refusal('invalid_client', 'the client id or secret is missing or not valid', isInForm ? {} : BASIC);
}

/** @throws Refusal */
function clientOf(form: URLSearchParams, basic: string): readonly string[] {
  const grantType = form.get('grant_type');
  if (new Set(form.keys()).size < form.size) throw new Refusal('invalid_request', 'a parameter is repeated');
  if (!grantType) throw new Refusal('invalid_request', 'grant_type is missing from the form');
  if (grantType !== 'client_credentials') {
    throw new Refusal('unsupported_grant_type', 'grant_type must be client_credentials');
  }
  if (basic === '') return [form.get('client_id') ?? '', form.get('client_secret') ?? ''];
  if (form.has('client_secret')) throw new Refusal('invalid_request', 'use one client authentication method, not two');
  return fromBasic(basic);
}

/** Of a form: it has seven at most, and each of 20,000 empty ones would be an object. */
const MAX_PARAMETERS = 32;

/** Without a value it counts as omitted (RFC 6749 3.2). `resource` may be repeated (RFC 8707 2) and is ignored. */
function parametersIn(text: string): URLSearchParams {
  if (text.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS)
    throw new Refusal('invalid_request', 'the form has too many parameters');
  const parameters = [...new URLSearchParams(text)];
  return new URLSearchParams(parameters.filter(([name, value]) => value !== '' && name !== 'resource'));
}

/** RFC 6749 2.3.1: form-encoded, joined by a colon, then base64. Some clients encode the `_` and `-` of our ids as well. */
function fromBasic(authorization: string): readonly string[] {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1] ?? '';
  const [clientId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  return [clientId, rest.join(':')].map(
    (half) => new URLSearchParams(`v=${half.replaceAll('&', '%26')}`).get('v') ?? '',
  );
}
