import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { topicRecords } from '../../src/ports/topic-records.js';
import type { Right } from '../../src/webhooks/limits.js';
import type { PortalSession } from '../../src/webhooks/state.js';
import type { Client } from '../support/clients/api-client.js';
import { eventually } from '../support/clocks/eventually.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';
import { sendTest, type TestedWebhooks, withTestedWebhooks } from '../support/scenes/tested-webhooks.js';
import type { Reply } from '../support/servers/receiver.js';

const ACCOUNT = 42;

let tested: TestedWebhooks;
let api: RunningApi;
let client: Client;
withTestedWebhooks((given) => {
  tested = given;
  ({ api, client } = given);
});

describe('a test of a webhook', () => {
  it('sends a signed event of its type, with its headers, and tells what came of it', async () => {
    const id = await tested.register(client, '/signed', 'refund_out');
    tested.replies.set('/signed', { status: 200, body: 'taken' });
    const { status, body } = await sendTest(client, id);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'the endpoint answered 200',
        result: { id: expect.stringMatching(/^msg_./), status: 200, error: null, durationMs: expect.any(Number), response: 'taken' }, // biome-ignore format: one object
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

  it('is of the trace of the request for it, as it came', async () => {
    const id = await tested.register(client, '/traced');
    const trace = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, tracestate: 'c=1' };
    await sendTest(client, id, { headers: trace });
    expect(tested.requestsAt('/traced')[0]?.headers).toMatchObject(trace);
  });

  it.each<[number, Reply, number | null, string | null, string]>([
    [101, { status: 500 }, 500, null, 'the endpoint answered 500'],
    [102, { status: 302, headers: { location: '/elsewhere' } }, 302, null, 'the endpoint answered 302'],
    [103, { status: 410 }, 410, null, 'the endpoint answered 410'],
    [
      104,
      'reset',
      null,
      'connection-reset',
      'the endpoint did not answer (connection-reset). The request was sent, and no status line came.',
    ],
  ])('tells account %i of %j, and nothing follows from it', async (accountId, reply, status, error, message) => {
    const account = await api.account(accountId);
    const id = await tested.register(account, `/${accountId}`);
    tested.replies.set(`/${accountId}`, reply);
    const body = { success: false, message, result: { status, error } };
    expect(await sendTest(account, id)).toMatchObject({ status: 200, body });
    expect((await account.list()).webhooks).toMatchObject([{ id, isActive: true }]);
  });

  it('is sent for an inactive webhook as well', async () => {
    const id = await tested.register(client, '/inactive', 'cash_out');
    expect((await client.patch(id, { isActive: false })).status).toBe(200);
    expect(await sendTest(client, id)).toMatchObject({ status: 200, body: { success: true } });
    expect(tested.requestsAt('/inactive')).toHaveLength(1);
  });

  it('is sent to the notice URL too, as a notice, once there is one', async () => {
    const account = await api.account(43);
    const test = (by = account) => by.send('POST', '/api/notices/test');
    expect(await test()).toMatchObject({ status: 404, body: { message: 'the account has no notice URL' } });
    const url = await tested.register(account, '/notices').then(async () => (await account.list()).webhooks[0]?.url);
    const json = { url, headers: [{ key: 'X-Api-Key', value: 'key of notices' }] };
    await account.send('PUT', '/api/notices', { json });
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

  it('is one at a time to a URL, whatever the type, and of other URLs meanwhile', async () => {
    const other = await api.account(7);
    const [one, same, another] = [
      await tested.register(client, '/slow', 'med_accepted'),
      await tested.register(client, '/slow', 'med_rejected'),
      await tested.register(client, '/quick', 'med_accepted'),
    ];
    const others = await tested.register(other, '/slow');
    let answer: (reply: Reply) => void = () => undefined;
    tested.replies.set('/slow', new Promise((resolve) => (answer = resolve)));
    const first = sendTest(client, one);
    await eventually(() => tested.requestsAt('/slow').length === 1);
    for (const id of [one, same]) {
      const { status, headers, body } = await sendTest(client, id);
      expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[1-9]\d*$/)]);
      expect(body).toMatchObject({ code: 'test-running' });
    }
    expect((await sendTest(client, another)).body).toMatchObject({ success: true });
    const second = sendTest(other, others);
    await eventually(() => tested.requestsAt('/slow').length === 2);
    answer({ status: 200 });
    for (const { body } of [await first, await second]) expect(body).toMatchObject({ success: true });
    expect((await sendTest(client, same)).body).toMatchObject({ success: true });
  });

  it('needs no body and looks at none', async () => {
    const caller = await api.account(1_000);
    const id = await tested.register(caller, '/bodies');
    const headers = { 'content-type': 'application/json' };
    for (const given of [
      {},
      { bytes: Buffer.from('{') },
      { headers, bytes: '{"data":' },
      { bytes: 'x'.repeat(65_536) },
    ])
      expect(await sendTest(caller, id, given)).toMatchObject({ status: 200, body: { success: true } });
  });

  it("another account's is 404, one that was removed too", async () => {
    const id = await tested.register(client, '/mine', 'refund_in');
    expect((await sendTest(await api.account(8), id)).status).toBe(404);
    await client.remove(id);
    expect((await sendTest(client, id)).status).toBe(404);
    expect(tested.requestsAt('/mine')).toEqual([]);
  });

  it('is one of 30 a minute of its account', async () => {
    const [caller, other] = [await api.account(9), await api.account(10)];
    const startedAt = performance.now();
    for (let n = 0; n < 30; n += 1) expect((await sendTest(caller, 99_999)).status).toBe(404);
    let more = 0;
    const refused = await eventually(async () => {
      const responses = await Promise.all(Array.from({ length: 30 }, () => sendTest(caller, 99_999)));
      more += responses.filter(({ status }) => status === 404).length;
      return responses.find(({ status }) => status !== 404);
    });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^[12]$/)]);
    // One more every two seconds.
    expect(more).toBeLessThanOrEqual((performance.now() - startedAt) / 2_000);
    expect((await sendTest(other, 99_999)).status).toBe(404);
  });

  it('of a URL that keeps failing is sent all the same, and says when it works again', async () => {
    const caller = await api.account(11);
    const id = await tested.register(caller, '/fails');
    tested.replies.set('/fails', { status: 500 });
    for (let n = 0; n < 10; n += 1) expect((await sendTest(caller, id)).body).toMatchObject({ success: false });
    expect(await sendTest(caller, id)).toMatchObject({ status: 200, body: { success: false } });
    tested.replies.delete('/fails');
    expect(await sendTest(caller, id)).toMatchObject({ status: 200, body: { success: true } });
    expect(tested.requestsAt('/fails')).toHaveLength(12);
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
  const { body } = await sendTest(client.at(api.url), id);
  const message = 'the endpoint did not answer (host). The host name leads to no public address.';
  expect(body).toMatchObject({ success: false, message, result: { status: null, error: 'host' } });
  await api.close();
  expect(tested.requestsAt('/private')).toEqual([]);
});

describe('over a receiver of the test’s choice', () => {
  const result = { id: 'msg_1', success: true, status: 200, error: null, durationMs: 5 };
  const sent = { ...result, response: 'taken' };
  let bare: BareApi;
  afterEach(() => bare.close());

  async function start(parts: BareOptions['parts'] = {}): Promise<void> {
    bare = await startBareApi({ parts: { sendTest: async () => ({ kind: 'sent', result: sent }), ...parts } });
    await bare.client().post({ url: 'https://shop.example.com/', eventType: 'cash_in' });
  }

  it.each<[Right[], string | null]>([
    [['read', 'configure', 'payloads'], 'taken'],
    [['read', 'configure'], null],
  ])('a session with %j has of its answer: %s', async (can, response) => {
    const session = { id: 'ps_0000000000000000', until: '9999-01-01T00:00:00.000Z', can } as unknown as PortalSession;
    const caller = { accountId: 42, actor: 'ana', clientId: null, session };
    await start({ verifyToken: async () => ({ kind: 'verified', caller }) });
    expect((await sendTest(bare.client(), 1)).body).toMatchObject({ result: { response } });
  });

  it.each([
    ['2026-11-01T00:00:00.000Z', 'Expired: Issuing authority, at 2026-11-01T00:00:00.000Z.'],
    [null, 'Expired: Issuing authority.'],
  ])('names the certificate of its chain that has expired (%s)', async (expiredAt, named) => {
    const expired = { error: 'tls', reason: 'certificate-expired' };
    const expiredCertificate = { name: 'Issuing authority', expiredAt };
    const failed = { ...sent, ...expired, success: false, status: null, response: null, expiredCertificate };
    await start({ sendTest: async () => ({ kind: 'sent', result: failed }) });
    const message = `the endpoint did not answer (tls). A certificate of the chain has expired. ${named}`;
    const shown = { success: false, message, result: { ...expired, expiredCertificate } };
    expect((await sendTest(bare.client(), 1)).body).toMatchObject(shown);
  });

  it('is logged, without what its body, its headers and its answer hold', async () => {
    await start();
    const traceId = '1'.repeat(32);
    const headers = { 'x-request-id': 'r-1', traceparent: `00-${traceId}-${'2'.repeat(16)}-01` };
    await sendTest(bare.client(), 1, { headers });
    const about = { accountId: 42, webhookId: 1, requestId: 'r-1', correlationId: 'r-1', deliveryId: 'msg_1' };
    expect(bare.logger.infos).toEqual([[{ ...about, traceId, ...result }, 'a test event was sent']]);
  });
});

it('a stop of the service ends a test that is under way, and its caller hears of it', async () => {
  const api = await startApi({ ...tested.settings, DELIVERY_TIMEOUT: '60s' });
  const client = await api.account(ACCOUNT);
  const id = await tested.register(client, '/at-the-stop');
  tested.replies.set('/at-the-stop', 'hang');
  const answer = sendTest(client, id);
  await eventually(() => tested.requestsAt('/at-the-stop').length === 1);
  await Promise.all([api.close(), answer]);
  expect(await answer).toMatchObject({ status: 503, body: { code: 'test-interrupted' } });
  expect((await answer).headers.get('retry-after')).toBe('1');
});
