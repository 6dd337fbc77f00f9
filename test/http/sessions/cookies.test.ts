/** The cookies that a browser holds after many sign-ins. */

import { request } from '../../support/clients/api-client.js';
import { codeIn, opened } from '../../support/clients/portal-session.js';
import { type BareApi, startBareApi } from '../../support/scenes/bare-api.js';

let api: BareApi;
beforeAll(async () => {
  api = await startBareApi();
});
afterAll(() => api.close());

/** Cookies by name, oldest first, as a browser stores and sends them. */
class CookieJar {
  readonly #cookies = new Map<string, string>();

  get names(): readonly string[] {
    return [...this.#cookies.keys()];
  }

  get header(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  add(headers: Headers): void {
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (cookie.includes('Max-Age=0;')) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}

test('149 sign-ins leave the 20 newest cookies, and the next one still works', async () => {
  const jar = new CookieJar();
  const entered: string[] = [];
  for (let n = 0; n < 149; n += 1) {
    const session = await opened(api.client(), { user: `user ${n}` });
    const json = { code: codeIn(session) };
    const { status, headers } = await request(api.url, 'POST', '/console/session', {
      json,
      headers: { cookie: jar.header },
    });
    expect(status).toBe(200);
    jar.add(headers);
    entered.push(`console-${session.id}`);
    expect(jar.names).toEqual(entered.slice(-20));
  }
  const [last = ''] = entered.slice(-1);
  const headers = { cookie: jar.header, 'x-console': last.replace('console-', '') };
  expect((await request(api.url, 'GET', '/console/session', { headers })).status).toBe(200);
});

test('cookies of other names are neither counted nor cleared', async () => {
  const cookie = Array.from({ length: 100 }, (_, n) => `other-${n}=x`).join('; ');
  const json = { code: codeIn(await opened(api.client())) };
  const { headers } = await request(api.url, 'POST', '/console/session', { json, headers: { cookie } });
  expect(headers.getSetCookie()).toHaveLength(1);
});
