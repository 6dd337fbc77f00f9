/** The API of a running service, asked as an account's client does. */
import { request } from 'undici';

export type Ask = <T>(path: string, json?: object, method?: 'GET' | 'POST' | 'PATCH' | 'DELETE') => Promise<T>;

/** Its calls reject unless they are answered with 2xx. */
export function apiClient(url: string, token: string): Ask {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return async <T>(path: string, json?: object, method = json ? 'POST' : 'GET') => {
    const sent = json && { body: JSON.stringify(json) };
    const { statusCode, body } = await request(url + path, { method, headers, ...sent });
    const text = await body.text();
    if (statusCode >= 300) throw new Error(`${method} ${path} answered ${statusCode}: ${text}`);
    return JSON.parse(text) as T;
  };
}
