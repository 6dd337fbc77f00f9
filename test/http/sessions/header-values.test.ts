/** The values of headers, which are credentials of the account's receivers, are for sessions that may configure. */
import type { Client } from '../../support/clients/api-client.js';
import { Browser, opened } from '../../support/clients/portal-session.js';
import { type RunningApi, startApi } from '../../support/scenes/api-fixture.js';

const SECRET = 'Bearer planted-value';
const HEADERS = [{ key: 'Authorization', value: SECRET }];

let api: RunningApi;
let client: Client;
let paths: string[];

beforeAll(async () => {
  api = await startApi();
  client = await api.account(42);
  const answer = await client.post({ url: 'https://127.0.0.1/hook', eventType: 'cash_in', headers: HEADERS });
  expect(answer.status).toBe(200);
  const json = { url: 'https://127.0.0.1/notices', headers: HEADERS };
  expect((await client.send('PUT', '/api/notices', { json })).status).toBe(200);
  const [webhook] = (await client.list()).webhooks;
  const at = new Date().toISOString();
  paths = ['/api/webhooks', `/api/webhooks?at=${at}`, `/api/webhooks/${webhook?.id}`, '/api/notices'];
});

afterAll(() => api.close());

const shownTo = async (caller: Pick<Client, 'send'>) => {
  const answers = await Promise.all(paths.map((path) => caller.send('GET', path)));
  return answers.map(({ status, body }) => [status, JSON.stringify(body)]);
};

it('a session that may not configure sees the names of headers, and empty values', async () => {
  const browser = await Browser.in(api.url, await opened(client, { can: ['read', 'payloads', 'resend', 'secrets'] }));
  // Before and after a caller who sees the values: an answer that is kept for one must not reach the other.
  for (const caller of [browser, client, browser]) {
    const value = caller === client ? SECRET : '';
    for (const [status, body] of await shownTo(caller)) {
      expect([status, body]).toEqual([200, expect.stringContaining(`"headers":{"Authorization":"${value}"}`)]);
    }
  }
});

it('a session that may configure sees the values', async () => {
  const browser = await Browser.in(api.url, await opened(client, { can: ['read', 'configure'] }));
  expect(await shownTo(browser)).toEqual(await shownTo(client));
});
