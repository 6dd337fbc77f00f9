/** Bearer tokens of a running service, got as clients get them. */
import { request } from 'undici';
import { credentialsOf } from './population.js';

const AT_ONCE = 32;

export async function tokensOf(url: string, accountIds: readonly number[]): Promise<string[]> {
  const tokens: string[] = [];
  for (let first = 0; first < accountIds.length; first += AT_ONCE) {
    const some = accountIds.slice(first, first + AT_ONCE);
    tokens.push(...(await Promise.all(some.map((accountId) => tokenOf(url, accountId)))));
  }
  return tokens;
}

/** As many of the accounts 1 and on as are asked for, evenly spread. */
export function someOf(accounts: number, wanted: number): number[] {
  const count = Math.min(accounts, wanted);
  return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * accounts) / count));
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
