/** Bearer tokens of a running service, got as clients get them. */
import { request } from 'undici';
import { credentialsOf } from './population.js';

const AT_ONCE = 32;

/** Of the accounts 1 to `count`. */
export async function tokensOf(url: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let first = 1; first <= count; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - first + 1) }, (_, n) => tokenOf(url, first + n));
    tokens.push(...(await Promise.all(some)));
  }
  return tokens;
}

export async function tokenOf(url: string, accountId: number): Promise<string> {
  const { status, body } = await tokenResponse(url, credentialsOf(accountId));
  if (status !== 200) throw new Error(`no token for account ${accountId}: ${status}`);
  return body.access_token;
}

export async function tokenResponse(
  url: string,
  { clientId, clientSecret }: ReturnType<typeof credentialsOf>,
): Promise<{ status: number; body: { access_token: string } }> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const { statusCode, body } = await request(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(form)),
  });
  return { status: statusCode, body: (await body.json()) as { access_token: string } };
}
