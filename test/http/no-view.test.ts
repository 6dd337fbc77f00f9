/** Without a view nothing is known of deliveries: an empty answer would read as the end of a list, or as "never failed". */
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

let api: BareApi;
beforeAll(async () => {
  api = await startBareApi();
  const body = JSON.stringify({ url: 'https://shop.example.com/', eventType: 'cash_in' });
  await ask('/api/webhooks', { method: 'POST', body });
});
afterAll(() => api.close());

function ask(path: string, init: RequestInit = {}) {
  const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json' };
  return fetch(api.url + path, { ...init, headers });
}

it.each([
  '/api/deliveries',
  '/api/deliveries/msg_1',
  '/api/webhooks/1/deliveries',
  '/api/webhooks/health',
  '/api/webhooks/1/recover?since=2026-11-01T00:00:00Z',
  '/api/events',
  '/api/events?after=start',
  '/api/stats',
])('%s is 503 with Retry-After', async (path) => {
  const response = await ask(path);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.json()).toMatchObject({
    success: false,
    message: expect.stringContaining('not readable now'),
    code: expect.any(String),
  });
});

it('GET /api/webhooks answers: it needs no view', async () => {
  const response = await ask('/api/webhooks');
  expect([response.status, ((await response.json()) as { total: number }).total]).toEqual([200, 1]);
});
