import { type EventStore, OtherHistory, StoreRefused, StoreUnavailable } from '../../src/ports/event-store.js';
import { ReadModelBehind } from '../../src/read-model/account-states.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

const SECRET_DETAILS = 'SQLITE_FULL: database or disk is full, /var/lib/data/store.sqlite';

let api: BareApi | undefined;

afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function started(options: BareOptions): Promise<BareApi> {
  api = await startBareApi(options);
  return api;
}

async function post(running: BareApi) {
  const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'https://shop.com/', eventType: 'cash_in' });
  const response = await fetch(`${running.url}/api/webhooks`, { method: 'POST', headers, body });
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, body: await response.json() };
}

function failing(store: EventStore, error: () => Error): EventStore {
  return { ...bound(store), append: () => Promise.reject(error()) };
}

describe('what the service can not do is 500 in the shape of every error, and tells nothing; the log has it', () => {
  const throwing = () => {
    throw new TypeError(SECRET_DETAILS);
  };
  it.each<[string, BareOptions]>([
    ['an append that fails', { between: (store) => failing(store, () => new Error(SECRET_DETAILS)) }],
    ['a check that throws', { parts: { checkEndpoint: throwing } }],
    ['a verification that throws', { parts: { verifyToken: throwing } }],
    ['an error that calls itself a 404', { parts: { handleKeyedCommand: () => Promise.reject(koaError(404)) } }],
    ['something thrown that is no error', { parts: { handleKeyedCommand: () => Promise.reject(SECRET_DETAILS) } }],
    ['nothing thrown', { parts: { handleKeyedCommand: () => Promise.reject(undefined) } }],
  ])('%s', async (_, options) => {
    const running = await started(options);
    expect(await post(running)).toEqual({
      status: 500,
      retryAfter: null,
      body: { success: false, message: 'internal error', code: 'internal-error' },
    });
    expect(running.logger.errors).toHaveLength(1);
  });
});

describe('an outage is 503 with Retry-After, and not told with every request', () => {
  it.each([
    ['a store out of reach', new StoreUnavailable(SECRET_DETAILS)],
    ['a store that refuses us', new StoreRefused(SECRET_DETAILS)],
    ['a store of another history', new OtherHistory(SECRET_DETAILS)],
    ['a read model too far behind', new ReadModelBehind(SECRET_DETAILS)],
  ])('%s', async (_, error) => {
    const running = await started({ between: (store) => failing(store, () => error) });
    const message = 'the service is unavailable; Retry-After says when to try again';
    expect(await post(running)).toEqual({
      status: 503,
      retryAfter: '5',
      body: { success: false, message, code: 'unavailable' },
    });
    expect(running.logger.errors).toEqual([]);
  });
});

it('after a failure the service goes on', async () => {
  let failuresLeft = 1;
  const between = (store: EventStore): EventStore => ({
    ...failing(store, () => new Error('unused')),
    append: (...args) =>
      failuresLeft-- > 0 ? Promise.reject(new StoreUnavailable(SECRET_DETAILS)) : store.append(...args),
  });
  const running = await started({ between });
  expect((await post(running)).status).toBe(503);
  expect((await post(running)).status).toBe(200);
});

it.each([
  'GET http://[ HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET /api/webhooks\u00ff HTTP/1.1',
  'GET /api\\webhooks HTTP/1.1',
  'GET /../../etc/passwd HTTP/1.1',
  'POST /api/webhooks?__proto__[a]=1 HTTP/1.1',
])('a request of a strange target is the caller’s error: %s', async (line) => {
  const running = await started({});
  const { status, body } = await rawRequest(running.port, head(line, 'Authorization: Bearer caller-42'));
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  if (body !== '')
    expect(JSON.parse(body)).toMatchObject({ success: false, message: expect.any(String), code: expect.any(String) });
  expect(running.logger.errors).toEqual([]);
});

it.each([
  ['garbage', 400, ['\u0000\u0001garbage\r\n\r\n']],
  ['two lengths', 400, [head('POST /api/webhooks HTTP/1.1', 'Content-Length: 1', 'Transfer-Encoding: chunked')]],
  ['headers without end', 431, [`GET /api/webhooks HTTP/1.1\r\nX: ${'x'.repeat(40_000)}`]],
  ['no host', 401, ['GET /api/webhooks HTTP/1.1\r\n\r\n']],
  ['an expectation nobody knows', 401, [head('GET /api/webhooks HTTP/1.1', 'Expect: foo')]],
])('a request that is no good HTTP is answered in the shape of all others: %s', async (_, status, parts) => {
  const running = await started({});
  const answer = await rawRequest(running.port, ...parts);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toMatchObject({
    success: false,
    message: expect.any(String),
    code: expect.any(String),
  });
  expect(running.logger.errors).toEqual([]);
});

function koaError(status: number): Error {
  return Object.assign(new Error(SECRET_DETAILS), { status, expose: true });
}
