/** With a clock of the test's own, and tokens of another issuer, which have no credential. */

import {
  Browser,
  codeIn,
  entering,
  JSON_TYPE,
  type Opened,
  opened,
  sent,
} from '../../support/clients/portal-session.js';
import { type BareApi, startBareApi } from '../../support/scenes/bare-api.js';

let api: BareApi;
let time = Date.now();

beforeAll(async () => {
  api = await startBareApi({ parts: { now: () => new Date(time) } });
});

afterAll(() => api.close());

const issuers = {
  send: (method: string, path: string, { bytes }: { bytes?: string | Buffer } = {}) => {
    const headers = { authorization: 'Bearer caller-42', ...JSON_TYPE };
    return sent(api.url, method, path, { headers, ...(bytes !== undefined && { body: bytes }) });
  },
};
const listed = async () => {
  const { body } = await issuers.send('GET', '/api/portal-sessions');
  return (body as unknown as { sessions: Opened[] }).sessions.map(({ id }) => id);
};

test('a code is good for 60 seconds, and no longer', async () => {
  const [first, second] = [await opened(issuers), await opened(issuers)];
  time += 59_999;
  expect((await entering(api.url, codeIn(first))).status).toBe(200);
  time += 1;
  expect((await entering(api.url, codeIn(second))).status).toBe(400);
});

test('a session lasts until it expires, and is then neither good nor listed', async () => {
  const session = await opened(issuers, { lifetime: '30s' });
  const browser = await Browser.in(api.url, session);
  time += 29_999;
  expect((await browser.send('GET', '/api/webhooks')).status).toBe(200);
  expect(await listed()).toContain(session.id);
  time += 1;
  expect((await browser.send('GET', '/api/webhooks')).status).toBe(401);
  expect((await browser.send('DELETE', '/console/session')).status).toBe(401);
  expect(await listed()).not.toContain(session.id);
  expect((await issuers.send('DELETE', `/api/portal-sessions/${session.id}`)).status).toBe(404);
});

test('a code is worth nothing after its session has expired', async () => {
  const session = await opened(issuers, { lifetime: '1s' });
  time += 1_000;
  expect((await entering(api.url, codeIn(session))).status).toBe(400);
});

test('expired sessions take no room: the state drops them when another is opened', async () => {
  for (let round = 0; round < 3; round += 1) {
    for (let count = 0; count < 60; count += 1) await opened(issuers, { lifetime: '1s' });
    time += 1_000;
  }
  await opened(issuers, { lifetime: '1s' });
  const found = await api.readModel.accounts.credentialsNow(42);
  const ids = found?.credentials.sessions.map(({ until }) => Date.parse(until) > time);
  expect(ids?.every((isOpen) => isOpen)).toBe(true);
});

test('a session that nobody entered takes no room once its code is worth nothing, though it would last for an hour', async () => {
  time += 3_600_000;
  const entered = await opened(issuers, { lifetime: '1h' });
  await Browser.in(api.url, entered);
  for (let count = 1; count < 100; count += 1) await opened(issuers, { lifetime: '1h', user: `user ${count % 20}` });
  await expect(opened(issuers)).rejects.toThrow('409');
  time += 60_000;
  const { id } = await opened(issuers);
  expect(await listed()).toEqual(expect.arrayContaining([entered.id, id]));
  expect(await listed()).toHaveLength(2);
  const found = await api.readModel.accounts.credentialsNow(42);
  expect(found?.credentials.sessions).toHaveLength(2);
});
