import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { VerifyToken } from '../../src/accounts/access-tokens.js';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import type { SendTest } from '../../src/http/api-parts.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import type { Right } from '../../src/webhooks/limits.js';
import type { PortalSession } from '../../src/webhooks/state.js';
import type { Client } from '../support/clients/api-client.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { startBareApi } from '../support/scenes/bare-api.js';
import { sendTest, type TestedWebhooks, testedWebhooks } from '../support/scenes/tested-webhooks.js';
import type { Reply } from '../support/servers/receiver.js';
import { silentLogger } from '../support/silent-logger.js';

const ACCOUNT = 42;

let tested: TestedWebhooks;
beforeAll(async () => {
  tested = await testedWebhooks();
});
afterAll(() => tested.close());
afterEach(() => tested.replies.clear());

describe('a test of a webhook', () => {
  let api: RunningApi;
  let client: Client;
  beforeAll(async () => {
    api = await startApi(tested.settings);
    client = await api.account(ACCOUNT);
  });
  afterAll(() => api.close());

  it('sends a signed event of its type, with its headers, and tells what came of it', async () => {
    const id = await tested.register(client, '/signed', 'refund_out');
    tested.replies.set('/signed', { status: 200, body: 'taken' });
    const { status, body } = await sendTest(client, id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'the endpoint answered 200',
        result: {
          ...{ id: expect.stringMatching(/^msg_./), status: 200, error: null, durationMs: expect.any(Number) },
          response: 'taken',
        },
      },
    });
    const [request, ...more] = tested.requestsAt('/signed');
    expect([request?.method, more]).toEqual(['POST', []]);
    const sent = String(request?.body);
    expect(JSON.parse(sent)).toEqual({
      id: expect.stringMatching(/^test_[0-9a-f-]{36}$/),
      type: 'refund_out',
      accountId: ACCOUNT,
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { test: true },
    });
    const headers = request?.headers as Record<string, string>;
    const { signingSecret: secret } = client.credential as typeof client.credential & { signingSecret: string };
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'account-webhooks',
      'webhook-id': (body as unknown as { result: { id: string } }).result.id,
      'x-api-key': 'key of /signed',
    });
    expect(() => new Webhook(secret).verify(sent, headers)).not.toThrow();
  });

  it('is of the trace of the request for it, with a parent id of its own', async () => {
    const id = await tested.register(client, '/traced');
    const [traceId, spanId] = ['a'.repeat(32), 'b'.repeat(16)];
    await sendTest(client, id, { headers: { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'c=1' } });
    const { traceparent, tracestate } = tested.requestsAt('/traced')[0]?.headers ?? {};
    expect([traceparent, tracestate]).toEqual([expect.stringMatching(`^00-${traceId}-[0-9a-f]{16}-01$`), 'c=1']);
    expect(traceparent).not.toContain(spanId);
  });

  it('is another event each time', async () => {
    const id = await tested.register(client, '/again');
    const [one, two] = [await sendTest(client, id), await sendTest(client, id)];
    expect(one.body).not.toEqual(two.body);
    const bodies = tested.requestsAt('/again').map(({ body }) => JSON.parse(String(body)).id);
    expect(new Set(bodies).size).toBe(2);
  });

  it.each<[string, Reply, number | null, string | null, string]>([
    ['500', { status: 500 }, 500, null, 'the endpoint answered 500'],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 302, null, 'the endpoint answered 302'],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '1' } }, 503, null, 'the endpoint answered 503'],
    ['410', { status: 410 }, 410, null, 'the endpoint answered 410'],
    [
      'a connection that ends',
      'reset',
      null,
      'connection-reset',
      'the endpoint did not answer (connection-reset). The request was sent, and no status line came.',
    ],
  ])('tells of %s, and nothing follows from it', async (name, reply, status, error, message) => {
    const client2 = await api.account(100 + name.length + (status ?? 0));
    const id = await tested.register(client2, `/${name.length}-${status}`);
    tested.replies.set(`/${name.length}-${status}`, reply);
    const answer = await sendTest(client2, id);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ success: false, message, result: { status, error } });
    expect((await client2.list()).webhooks).toMatchObject([{ id, isActive: true }]);
  });

  it('works for an inactive webhook as well', async () => {
    const id = await tested.register(client, '/inactive', 'cash_out');
    const given = { headers: { 'content-type': 'application/json' }, bytes: '{"isActive":false}' };
    expect((await client.send('PATCH', `/api/webhooks/${id}`, given)).status).toBe(200);
    expect(await sendTest(client, id)).toMatchObject({ status: 200, body: { success: true } });
    expect(tested.requestsAt('/inactive')).toHaveLength(1);
  });

  it('is sent to the notice URL too, as a notice, once there is one', async () => {
    const account = await api.account(43);
    const test = (by = account) => by.send('POST', '/api/notices/test');
    expect(await test()).toMatchObject({ status: 404, body: { message: 'the account has no notice URL' } });
    const url = await tested.register(account, '/notices').then(async () => (await account.list()).webhooks[0]?.url);
    const bytes = JSON.stringify({ url, headers: [{ key: 'X-Api-Key', value: 'key of notices' }] });
    await account.send('PUT', '/api/notices', { headers: { 'content-type': 'application/json' }, bytes });
    tested.replies.set('/notices', { status: 401, body: 'who?' });
    const result = { id: expect.stringMatching(/^msg_./), status: 401, response: 'who?' };
    const body = { success: false, message: 'the endpoint answered 401', result };
    expect(await test()).toMatchObject({ status: 200, body });
    const [request] = tested.requestsAt('/notices');
    expect(request?.headers).toMatchObject({ 'x-api-key': 'key of notices' });
    expect(JSON.parse(String(request?.body))).toEqual({
      ...{ id: expect.stringMatching(/^test_/), type: 'test', accountId: 43, timestamp: expect.any(String) },
      data: { test: true },
    });
  });

  it('is in no topic', async () => {
    const id = await tested.register(client, '/no-topic', 'med_created');
    tested.replies.set('/no-topic', { status: 500 });
    await sendTest(client, id);
    const file = new StoreFile(api.dataDir);
    const broker = new SqliteBroker(file);
    for (const topic of await broker.listTopics()) {
      for await (const record of topicRecords(broker, topic)) throw new Error(`${topic} holds ${record.value}`);
    }
    await broker.close();
    file.close();
  });
});

it('tells of a receiver that does not answer in time', async () => {
  const api = await startApi({ ...tested.settings, DELIVERY_TIMEOUT: '300ms' });
  const client = await api.account(ACCOUNT);
  const id = await tested.register(client, '/hangs');
  tested.replies.set('/hangs', 'hang');
  const { status, body } = await sendTest(client, id);
  const message = 'the endpoint did not answer (timeout). The request was sent, and no status line came.';
  const result = { status: null, error: 'timeout', reason: 'waiting-for-headers' };
  expect([status, body]).toMatchObject([200, { success: false, message, result }]);
  await api.close();
});

it('addresses that deliveries may not connect to are refused to a test too', async () => {
  const first = await startApi({ ...tested.settings, DATA_DIR: join(tested.folder, 'private') });
  const client = await first.account(ACCOUNT);
  const id = await tested.register(client, '/private');
  const dataDir = join(tested.folder, 'private');
  await first.close();
  const api = await startApi({ ...tested.settings, DATA_DIR: dataDir, ALLOW_PRIVATE_ENDPOINTS: 'false' });
  const response = await fetch(`${api.url}/api/webhooks/${id}/test`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}` },
  });
  expect(await response.json()).toMatchObject({ success: false, result: { status: null, error: 'host' } });
  await api.close();
  expect(tested.requestsAt('/private')).toEqual([]);
});

it("has the receiver's answer only for who may see payloads", async () => {
  const result = { id: 'msg_1', success: true, status: 200, error: null, durationMs: 5, response: 'taken' };
  const asked = async (can: readonly Right[]) => {
    const session = { id: 'ps_0000000000000000', until: '9999-01-01T00:00:00.000Z', can } as unknown as PortalSession;
    const verifyToken: VerifyToken = async () => ({
      kind: 'verified',
      caller: { accountId: 42, actor: 'ana', clientId: null, session },
    });
    const api = await startBareApi({ parts: { verifyToken, sendTest: async () => ({ kind: 'sent', result }) } });
    const headers = { authorization: 'Bearer any', 'content-type': 'application/json' };
    const body = JSON.stringify({ url: 'https://shop.example.com/', eventType: 'cash_in' });
    await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body });
    const response = await fetch(`${api.url}/api/webhooks/1/test`, { method: 'POST', headers });
    const told = await response.json();
    await api.close();
    return told;
  };
  expect(await asked(['read', 'configure', 'payloads'])).toMatchObject({ result: { response: 'taken' } });
  expect(await asked(['read', 'configure'])).toMatchObject({ result: { response: null } });
});

it('is logged, without what its body, its headers and its answer hold', async () => {
  const lines: unknown[][] = [];
  const logger = { ...silentLogger, info: (...args: unknown[]) => void lines.push(args) };
  const result = { id: 'msg_1', success: false, status: 500, error: null, durationMs: 5 };
  const response = 'X-Api-Key: echoed';
  const sending: SendTest = async () => ({ kind: 'sent', result: { ...result, response } });
  const api = await startBareApi({ parts: { sendTest: sending, logger } });
  const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
  const ids = { 'x-request-id': 'r-1', traceparent };
  const headers = { authorization: 'Bearer caller-42', 'content-type': 'application/json', ...ids };
  const body = JSON.stringify({ url: 'https://shop.example.com/', eventType: 'cash_in' });
  await fetch(`${api.url}/api/webhooks`, { method: 'POST', headers, body });
  await fetch(`${api.url}/api/webhooks/1/test`, { method: 'POST', headers });
  await api.close();
  const about = { accountId: 42, webhookId: 1, requestId: 'r-1', correlationId: 'r-1', deliveryId: 'msg_1' };
  const traceId = '1'.repeat(32);
  expect(lines).toEqual([[{ ...about, traceId, ...result }, 'a test event was sent']]);
});
