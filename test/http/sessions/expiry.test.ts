/** With a clock of the test's own, and tokens of another issuer, which have no credential. */
import type { Client } from '../../support/clients/api-client.js';
import { Browser, codeIn, entering, type Opened, opened } from '../../support/clients/portal-session.js';
import { type BareApi, startBareApi } from '../../support/scenes/bare-api.js';

let api: BareApi;
let client: Client;
let time = Date.now();

beforeAll(async () => {
  api = await startBareApi({ parts: { now: () => new Date(time) } });
  client = api.client();
});

afterAll(() => api.close());

const listed = async () =>
  (await client.send<{ sessions: Opened[] }>('GET', '/api/portal-sessions')).body.sessions.map(({ id }) => id);
const kept = async () => (await api.readModel.accounts.credentialsNow(42))?.credentials.sessions ?? [];

test('a code is good for 60 seconds, and no longer', async () => {
  const [first, second] = [await opened(client), await opened(client)];
  time += 59_999;
  expect((await entering(api.url, codeIn(first))).status).toBe(200);
  time += 1;
  expect((await entering(api.url, codeIn(second))).status).toBe(400);
});

test('a session lasts until it expires, and is then neither good nor listed, nor is its code', async () => {
  const [session, unused] = [await opened(client, { lifetime: '30s' }), await opened(client, { lifetime: '30s' })];
  const browser = await Browser.in(api.url, session);
  time += 29_999;
  expect((await browser.send('GET', '/api/webhooks')).status).toBe(200);
  expect(await listed()).toContain(session.id);
  time += 1;
  expect((await browser.send('GET', '/api/webhooks')).status).toBe(401);
  expect((await browser.send('DELETE', '/console/session')).status).toBe(401);
  expect((await entering(api.url, codeIn(unused))).status).toBe(400);
  expect(await listed()).not.toContain(session.id);
  expect((await client.send('DELETE', `/api/portal-sessions/${session.id}`)).status).toBe(404);
});

test('expired sessions take no room: the state drops them when another is opened', async () => {
  for (let round = 0; round < 2; round += 1) {
    for (let count = 0; count < 60; count += 1) await opened(client, { lifetime: '1s' });
    time += 1_000;
  }
  await opened(client, { lifetime: '1s' });
  expect((await kept()).every(({ until }) => Date.parse(until) > time)).toBe(true);
});

test('a session that nobody entered takes no room once its code is worth nothing, though it would last for an hour', async () => {
  time += 3_600_000;
  const entered = await opened(client);
  await Browser.in(api.url, entered);
  for (let count = 1; count < 100; count += 1) await opened(client, { user: `user ${count % 20}` });
  time += 60_000;
  const { id } = await opened(client);
  expect(await listed()).toEqual([entered.id, id]);
  expect(await kept()).toHaveLength(2);
});
