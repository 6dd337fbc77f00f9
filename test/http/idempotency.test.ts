/** Idempotency-Key over HTTP. Keys over processes, restarts and days: test/webhooks/keyed-command.test.ts. */
import { type EventStore, StoreUnavailable } from '../../src/ports/event-store.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { Client } from '../support/clients/api-client.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { accountForEachTest, type RunningApi, startApiOnServer } from '../support/scenes/api-fixture.js';
import { type BareApi, type BareOptions, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

let api: RunningApi;
let second: RunningApi;
let client: Client;
accountForEachTest((...given) => {
  [client, api] = given;
}, startApiOnServer);
beforeEach(async () => {
  second ??= await api.beside();
});

const HEADERS = [{ key: 'X-A', value: 'v' }];
const webhook = (path: string, more: object = {}) => ({
  url: `https://shop.example.com/${path}`,
  eventType: 'cash_in',
  ...more,
});

async function post(by: Client, body: unknown, key: string) {
  const answer = await by.post(body, { 'idempotency-key': key });
  return { ...answer, isReplayed: answer.headers.get('idempotent-replayed') === 'true' };
}

async function appended(): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of api.store.read(accountStream(client.credential.accountId))) types.push(type);
  return types.filter((type) => type.startsWith('Webhook'));
}

it('a request that changes nothing appends nothing; its key is kept, and answers for it later', async () => {
  const [old, other] = ['v', 'w'].map((value) => webhook('a', { headers: [{ key: 'X-A', value }] }));
  for (const message of ['webhook registered', 'webhook updated', 'webhook updated']) {
    expect((await client.post(old)).body).toMatchObject({ success: true, message });
  }
  expect(await appended()).toEqual(['WebhookAdded']);
  expect((await post(client, old, 'k1')).isReplayed).toBe(false);
  await client.post(other);
  expect((await post(client, old, 'k1')).isReplayed).toBe(true);
  expect((await client.list()).webhooks[0]?.headers).toEqual({ 'X-A': 'w' });
  expect((await post(client, other, 'k1')).status).toBe(422);
  expect(await appended()).toEqual(['WebhookAdded', 'WebhookUpdated']);
});

describe('the same request under the same key', () => {
  it('at once in two processes is one event, and one answer for all', async () => {
    const both = [client, client.at(second.url)];
    const ask = (index: number) => post(both[index % 2] ?? client, webhook('a'), 'k1');
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.message}`))).toEqual(
      new Set(['200 webhook registered']),
    );
    expect(answers.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
    expect(await appended()).toEqual(['WebhookAdded']);
  });

  it('is answered with the webhook as the first request left it, whatever became of it and however it is spelled', async () => {
    const old = webhook('a', { headers: HEADERS });
    const first = (await post(client, old, 'k1')).body;
    const unchanged = (await post(client, old, 'k2')).body;
    await client.post(webhook('a', { headers: [{ key: 'X-A', value: 'w' }] }));
    const updated = (await post(client, old, 'k3')).body;
    const id = (await client.list()).webhooks[0]?.id ?? 0;
    await client.patch(id, { isActive: false });
    const respelled = { ...old, url: 'HTTPS://Shop.example.com:443/b/../a', more: 1 };
    const replays = async () => {
      for (const asked of [client, client.at(second.url)]) {
        expect(await post(asked, respelled, 'k1')).toMatchObject({ status: 200, body: first, isReplayed: true });
        expect((await post(asked, old, 'k2')).body).toEqual(unchanged);
        expect((await post(asked, old, 'k3')).body).toEqual(updated);
      }
    };
    await replays();
    await client.remove(id);
    await replays();
    expect(first).toMatchObject({ webhook: { url: old.url, headers: { 'X-A': 'v' }, isActive: true } });
    expect((await client.list()).total).toBe(0);
  });
});

describe('another request under the same key is 422 and names the header', () => {
  it.each<[string, object]>([
    ['URL', webhook('b', { headers: HEADERS })],
    ['type', webhook('a', { headers: HEADERS, eventType: 'cash_out' })],
    ['header value', webhook('a', { headers: [{ key: 'X-A', value: 'w' }] })],
    ['header name', webhook('a', { headers: [{ key: 'x-a', value: 'v' }] })],
    ['headers', webhook('a')],
  ])('another %s', async (_, other) => {
    await post(client, webhook('a', { headers: HEADERS }), 'k1');
    expect(await post(client.at(second.url), other, 'k1')).toMatchObject({
      status: 422,
      body: { code: 'idempotency-key-used', message: expect.stringContaining('Idempotency-Key') },
    });
    expect(await appended()).toEqual(['WebhookAdded']);
  });

  it('but not where it is another account’s', async () => {
    await post(client, webhook('a'), 'k1');
    expect(await post(await api.account(1_000), webhook('b'), 'k1')).toMatchObject({ status: 200, isReplayed: false });
  });
});

it('a refusal leaves the key free: of a field, or of the limit, once there is place or for another request', async () => {
  expect((await post(client, webhook('a', { eventType: 'x' }), 'k1')).status).toBe(400);
  for (const path of ['a', 'b', 'c'])
    expect(await post(client, webhook(path), `k1${path}`)).toMatchObject({ status: 200 });
  for (const key of ['k1', 'k2']) expect((await post(client, webhook('d'), key)).status).toBe(400);
  await client.remove((await client.list()).webhooks[0]?.id ?? 0);
  expect((await post(client, webhook('d'), 'k1')).body.message).toBe('webhook registered');
  expect((await post(client, webhook('d', { eventType: 'cash_out' }), 'k2')).status).toBe(200);
});

describe('the key', () => {
  it.each(['!', '~', 'x'.repeat(255), 'a"b', "'a;b=c,d'", '__proto__'])('may be %s', async (key) => {
    expect((await post(client, webhook('a'), key)).status).toBe(200);
    expect((await post(client, webhook('a'), key)).isReplayed).toBe(true);
  });

  it.each([
    ['empty', 'Idempotency-Key:'],
    ['of 256 characters', `Idempotency-Key: ${'x'.repeat(256)}`],
    ['with a space', 'Idempotency-Key: a b'],
    ['with a tab', 'Idempotency-Key: a\tb'],
    ['not ASCII', 'Idempotency-Key: caf\u00e9'],
    ['twice', 'Idempotency-Key: a\r\nIdempotency-Key: a'],
  ])('is 400 and names the header where it is %s', async (_, line) => {
    const json = JSON.stringify(webhook('a'));
    const lines = [`Authorization: Bearer ${client.token}`, 'Content-Type: application/json', line];
    const request = head('POST /api/webhooks HTTP/1.1', `Content-Length: ${json.length}`, ...lines);
    const { status, body } = await rawRequest(api.port, request, json);
    const errors = [{ field: 'Idempotency-Key', code: 'malformed' }];
    expect({ status, body: JSON.parse(body) }).toMatchObject({ status: 400, body: { code: 'invalid-fields', errors } });
    expect((await client.list()).total).toBe(0);
  });

  it('of another operation is left aside', async () => {
    await client.post(webhook('a'));
    const id = (await client.list()).webhooks[0]?.id ?? 0;
    expect((await client.patch(id, { isActive: false }, { 'idempotency-key': 'a b' })).status).toBe(200);
  });
});

it('no header value and no key stands in the store in clear', async () => {
  await post(client, webhook('a', { headers: [{ key: 'X-A', value: 'planted-secret' }] }), 'planted-key');
  for await (const event of api.store.read(accountStream(client.credential.accountId))) {
    for (const secret of ['planted-secret', 'planted-key']) expect(JSON.stringify(event)).not.toContain(secret);
  }
});

describe('over a store that fails, or is watched', () => {
  let bare: BareApi;
  let written: string[];
  afterEach(() => bare.close());

  /** Its first `failures` appends fail. */
  async function start(failures: number, parts: BareOptions['parts'] = {}): Promise<void> {
    let left = failures;
    written = [];
    const between = (store: EventStore): EventStore => ({
      ...bound(store),
      append: (stream, events, revision) => {
        if (left-- > 0) return Promise.reject(new StoreUnavailable('down'));
        written.push(...events.map(({ type }) => type));
        return store.append(stream, events, revision);
      },
    });
    bare = await startBareApi({ between, parts });
  }

  const send = async (path = 'a') => {
    const { status, isReplayed } = await post(bare.client(), webhook(path), 'k1');
    return `${status}${isReplayed ? ' replayed' : ''}`;
  };

  it('a 503 is not kept: after it the same request is performed, and then replayed', async () => {
    await start(1);
    expect([await send(), await send(), await send()]).toEqual(['503', '200', '200 replayed']);
  });

  it('a refusal of the URL writes nothing, and a replay does not ask whether the URL is still allowed', async () => {
    let allowed = false;
    const refused = { ok: false, problem: { code: 'url-invalid' } } as const;
    await start(0, { checkEndpoint: (href) => (allowed ? { ok: true, href } : refused) });
    expect(await send()).toBe('400');
    expect(written).toEqual([]);
    allowed = true;
    expect(await send()).toBe('200');
    allowed = false;
    expect(await send()).toBe('200 replayed');
  });

  it('24 h later the key is free', async () => {
    let now = new Date('2026-11-21T09:00:00.000Z');
    await start(0, { now: () => now });
    expect([await send(), await send('b')]).toEqual(['200', '422']);
    now = new Date('2026-11-22T09:00:00.000Z');
    expect(await send('b')).toBe('200');
  });
});
