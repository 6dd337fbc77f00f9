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
  const { clientId, clientSecret } = credentialsOf(accountId);
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const { statusCode, body } = await request(`${url}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: String(new URLSearchParams(form)),
  });
  const answer = (await body.json()) as { access_token: string };
  if (statusCode !== 200) throw new Error(`no token for account ${accountId}: ${statusCode}`);
  return answer.access_token;
}
