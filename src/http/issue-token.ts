/** POST /oauth/token: OAuth 2.0 client credentials (RFC 6749 4.4), with errors as its section 5.2 writes them. */
import type { Context, Next } from 'koa';
import type { OwnTokens } from '../accounts/access-tokens.js';
import { accountOf, secretMatches } from '../accounts/client-credentials.js';
import type { Accounts } from '../read-model/accounts.js';
import { ApiError } from './api-error.js';

type TokenError = 'invalid_request' | 'invalid_client' | 'unsupported_grant_type';

interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Sent in the body: then no WWW-Authenticate goes with a refusal. */
  readonly inBody: boolean;
}

type Refusal = { readonly error: TokenError; readonly description: string; readonly inBody: boolean };

/** Around the reading of the form: a body that is too large or can't be read is told of in section 5.2's words too. */
export async function tokenErrors(ctx: Context, next: Next): Promise<void> {
  ctx.set({ 'cache-control': 'no-store', pragma: 'no-cache' });
  try {
    await next();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.status = error.status;
    ctx.body = { error: 'invalid_request', error_description: error.message };
  }
}

export function issueToken(tokens: OwnTokens, accounts: Accounts) {
  return async (ctx: Context): Promise<void> => {
    const asked = read(ctx);
    if ('error' in asked) return refuse(ctx, asked);
    const accountId = await authenticated(asked, accounts);
    if (accountId === null) {
      const description = 'the client id or secret is not valid';
      return refuse(ctx, { error: 'invalid_client', description, inBody: asked.inBody });
    }
    const { token, expiresInSeconds } = await tokens.issue(accountId, asked.clientId);
    ctx.body = { access_token: token, token_type: 'Bearer', expires_in: expiresInSeconds };
  };
}

function read(ctx: Context): ClientCredentials | Refusal {
  const form = new URLSearchParams(typeof ctx.request.body === 'string' ? ctx.request.body : '');
  const basic = ctx.get('authorization');
  const inBody = basic === '';
  if (new Set(form.keys()).size < [...form.keys()].length) {
    return { error: 'invalid_request', description: 'a parameter stands twice', inBody };
  }
  const grantType = form.get('grant_type');
  if (!grantType) return { error: 'invalid_request', description: 'grant_type is missing from the form', inBody };
  if (grantType !== 'client_credentials') {
    return { error: 'unsupported_grant_type', description: 'grant_type must be client_credentials', inBody };
  }
  if (!inBody && form.has('client_secret')) {
    return { error: 'invalid_request', description: 'use one way of client authentication, not two', inBody };
  }
  return inBody ? fromForm(form) : fromBasic(basic);
}

function fromForm(form: URLSearchParams): ClientCredentials | Refusal {
  const clientId = form.get('client_id');
  const clientSecret = form.get('client_secret');
  // With no credentials at all, Basic is what the answer asks for.
  if (clientId === null && clientSecret === null) {
    return { error: 'invalid_client', description: 'client credentials are missing', inBody: false };
  }
  return { clientId: clientId ?? '', clientSecret: clientSecret ?? '', inBody: true };
}

/** RFC 6749 2.3.1: form-encoded, a colon between, then base64. Ids and secrets of ours have nothing to encode. */
function fromBasic(authorization: string): ClientCredentials {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(authorization)?.[1] ?? '';
  const [clientId = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  const clientSecret = rest.join(':');
  return { clientId: formDecoded(clientId), clientSecret: formDecoded(clientSecret), inBody: false };
}

function formDecoded(text: string): string {
  return new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') ?? '';
}

async function authenticated(client: ClientCredentials, accounts: Accounts): Promise<number | null> {
  const accountId = accountOf(client.clientId);
  if (accountId === null) return null;
  const credential = await accounts.credential(accountId, client.clientId);
  return credential && secretMatches(client.clientSecret, credential.secretHash) ? accountId : null;
}

function refuse(ctx: Context, { error, description, inBody }: Refusal): void {
  ctx.status = error === 'invalid_client' ? 401 : 400;
  if (ctx.status === 401 && !inBody) ctx.set('www-authenticate', 'Basic realm="account-webhooks"');
  ctx.body = { error, error_description: description };
}
