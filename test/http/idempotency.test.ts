import { type EventStore, StoreUnavailable } from '../../src/ports/event-store.js';
import { accountStream } from '../../src/webhooks/events.js';
import type { Client } from '../support/clients/api-client.js';
import { head, rawRequest } from '../support/clients/raw-request.js';
import { type RunningApi, startApiOnServer } from '../support/scenes/api-fixture.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';
import { bound } from '../support/servers/bound-store.js';

let api: RunningApi;
let second: RunningApi;
let lastAccount = 0;

beforeAll(async () => {
  api = await startApiOnServer();
  second = await api.beside();
});

afterAll(async () => {
  await second.close();
  await api.close();
});

function newAccount(): Promise<Client> {
  lastAccount += 1;
  return api.account(lastAccount);
}

const webhook = (path: string, more: object = {}) => ({
  url: `https://shop.example.com/${path}`,
  eventType: 'cash_in',
  ...more,
});

const post = (client: Client, body: unknown, key: string) => client.post(body, { 'idempotency-key': key });

async function historyOf({ credential }: Client): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of api.store.read(accountStream(credential.accountId))) types.push(type);
  return types.filter((type) => type.startsWith('Webhook'));
}

describe('a request that changes nothing', () => {
  it('appends nothing; its key is kept, and answers for it later', async () => {
    const client = await newAccount();
    const [old, other] = ['v', 'w'].map((value) => webhook('a', { headers: [{ key: 'X-A', value }] }));
    for (const message of ['webhook registered', 'webhook updated', 'webhook updated']) {
      expect((await client.post(old)).body).toMatchObject({ success: true, message });
    }
    expect(await historyOf(client)).toEqual(['WebhookAdded']);
    expect((await post(client, old, 'k1')).headers.get('idempotent-replayed')).toBeNull();
    await client.post(other);
    expect((await post(client, old, 'k1')).headers.get('idempotent-replayed')).toBe('true');
    expect((await client.list()).webhooks[0]?.headers).toEqual({ 'X-A': 'w' });
    expect((await post(client, other, 'k1')).status).toBe(422);
    expect(await historyOf(client)).toEqual(['WebhookAdded', 'WebhookUpdated']);
  });
});

describe('the same request under the same key', () => {
  it('is answered the same, says so, and is one event', async () => {
    const client = await newAccount();
    const body = webhook('a', { headers: [{ key: 'X-A', value: 'v' }] });
    const first = await post(client, body, 'k1');
    expect(first).toMatchObject({ status: 200, body: { success: true, message: 'webhook registered' } });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    for (const asked of [client, client.at(second.url), client]) {
      const again = await post(asked, body, 'k1');
      expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
      expect(again.headers.get('idempotent-replayed')).toBe('true');
    }
    expect(await historyOf(client)).toEqual(['WebhookAdded']);
  });

  it('is one event also where many come at once', async () => {
    const client = await newAccount();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(client, webhook('a'), 'k1')));
    expect(answers.map(({ status, body }) => `${status} ${body.message}`)).toEqual(
      Array<string>(10).fill('200 webhook registered'),
    );
    expect(await historyOf(client)).toEqual(['WebhookAdded']);
  });

  it('at once in two processes leaves one webhook, and one answer for all', async () => {
    const client = await newAccount();
    const both = [client, client.at(second.url)];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(both[index % 2] ?? client, webhook('a'), 'k1')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await client.list()).total).toBe(1);
    const later = await Promise.all(both.map((asked) => post(asked, webhook('a'), 'k1')));
    expect(new Set(later.map(({ body }) => body.message)).size).toBe(1);
  });

  it('is answered with the webhook as the first request left it', async () => {
    const client = await newAccount();
    const old = webhook('a', { headers: [{ key: 'X-A', value: 'v' }] });
    const first = (await post(client, old, 'k1')).body;
    const unchanged = (await post(client, old, 'k2')).body;
    await client.post(webhook('a', { headers: [{ key: 'X-A', value: 'w' }] }));
    const updated = (await post(client, old, 'k3')).body;
    await client.patch((await client.list()).webhooks[0]?.id ?? 0, { isActive: false });
    const respelled = { ...old, url: 'HTTPS://Shop.example.com:443/b/../a' };
    for (const asked of [client, client.at(second.url)]) {
      expect((await post(asked, respelled, 'k1')).body).toEqual(first);
      expect((await post(asked, old, 'k2')).body).toEqual(unchanged);
      expect((await post(asked, old, 'k3')).body).toEqual(updated);
    }
    expect(first).toMatchObject({ webhook: { url: old.url, headers: { 'X-A': 'v' }, isActive: true } });
  });

  it('may spell the URL otherwise, and have fields nobody knows', async () => {
    const client = await newAccount();
    await post(client, webhook('a'), 'k1');
    const respelled = { ...webhook('a', { headers: [], more: 1 }), url: 'HTTPS://Shop.example.com:443/b/../a' };
    expect((await post(client, respelled, 'k1')).headers.get('idempotent-replayed')).toBe('true');
  });

  it('is answered so whatever became of the webhook', async () => {
    const client = await newAccount();
    await post(client, webhook('a'), 'k1');
    await client.remove((await client.list()).webhooks[0]?.id ?? 0);
    expect((await post(client, webhook('a'), 'k1')).status).toBe(200);
    expect((await client.list()).total).toBe(0);
  });
});

describe('another request under the same key is 422 and names the header', () => {
  const headers = [{ key: 'X-A', value: 'v' }];
  it.each<[string, object]>([
    ['URL', webhook('b', { headers })],
    ['type', webhook('a', { headers, eventType: 'cash_out' })],
    ['header value', webhook('a', { headers: [{ key: 'X-A', value: 'w' }] })],
    ['header name', webhook('a', { headers: [{ key: 'x-a', value: 'v' }] })],
    ['headers', webhook('a')],
  ])('another %s', async (_, other) => {
    const client = await newAccount();
    await post(client, webhook('a', { headers }), 'k1');
    const { status, body } = await post(client.at(second.url), other, 'k1');
    expect({ status, body }).toEqual({
      status: 422,
      body: {
        success: false,
        message: expect.stringContaining('Idempotency-Key'),
        code: 'idempotency-key-used',
        errors: [{ field: 'Idempotency-Key', message: expect.stringContaining('Idempotency-Key'), code: 'key-used' }],
      },
    });
    expect(await historyOf(client)).toEqual(['WebhookAdded']);
  });

  it('but not where it is another account’s', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    await post(one, webhook('a'), 'k1');
    expect(await post(other, webhook('b'), 'k1')).toMatchObject({ status: 200 });
    expect((await post(one, webhook('a'), 'k1')).headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('refusals are not kept', () => {
  it('a 400 of the fields or the URL leaves the key free', async () => {
    const client = await newAccount();
    expect((await post(client, webhook('a', { eventType: 'x' }), 'k1')).status).toBe(400);
    expect((await post(client, { ...webhook('a'), url: 'http://shop.example.com/' }, 'k1')).status).toBe(400);
    const { status, headers } = await post(client, webhook('a'), 'k1');
    expect({ status, replayed: headers.get('idempotent-replayed') }).toEqual({ status: 200, replayed: null });
  });

  it('the limit’s 400 leaves it free: for the same request once there is place, and for another one', async () => {
    const client = await newAccount();
    for (const path of ['a', 'b', 'c']) await client.post(webhook(path));
    for (const key of ['k1', 'k2', 'k1']) expect((await post(client, webhook('d'), key)).status).toBe(400);
    await client.remove((await client.list()).webhooks[0]?.id ?? 0);
    expect((await post(client, webhook('d'), 'k1')).body.message).toBe('webhook registered');
    expect((await post(client, webhook('d', { eventType: 'cash_out' }), 'k2')).status).toBe(200);
  });
});

describe('the key', () => {
  it.each(['a', '!', '~', 'x'.repeat(255), '8e03978e-40d5-43dd-bc93-6894a57f9324', 'a"b', "'a;b=c,d'", '__proto__'])(
    'may be %s',
    async (key) => {
      const client = await newAccount();
      expect((await post(client, webhook('a'), key)).status).toBe(200);
      expect((await post(client, webhook('a'), key)).headers.get('idempotent-replayed')).toBe('true');
    },
  );

  const raw = (client: Client, body: string, ...lines: readonly string[]) => {
    const all = [`Authorization: Bearer ${client.token}`, 'Content-Type: application/json', ...lines];
    return rawRequest(api.port, head('POST /api/webhooks HTTP/1.1', `Content-Length: ${body.length}`, ...all), body);
  };

  it.each([
    ['empty', 'Idempotency-Key:'],
    ['of 256 characters', `Idempotency-Key: ${'x'.repeat(256)}`],
    ['with a space', 'Idempotency-Key: a b'],
    ['with a space in quotes', 'Idempotency-Key: "a b"'],
    ['with a tab', 'Idempotency-Key: a\tb'],
    ['not ASCII', 'Idempotency-Key: caf\u00e9'],
    ['twice', 'Idempotency-Key: a\r\nIdempotency-Key: a'],
  ])('is 400 and names the header where it is %s', async (_, line) => {
    const client = await newAccount();
    const { status, body } = await raw(client, JSON.stringify(webhook('a')), line);
    const message = expect.stringContaining('Idempotency-Key');
    expect({ status, body: JSON.parse(body) }).toEqual({
      status: 400,
      body: {
        success: false,
        message,
        code: 'invalid-fields',
        errors: [{ field: 'Idempotency-Key', message, code: 'not-a-key' }],
      },
    });
    expect((await client.list()).total).toBe(0);
  });

  it('of another operation is left aside', async () => {
    const client = await newAccount();
    await client.post(webhook('a'));
    const id = (await client.list()).webhooks[0]?.id ?? 0;
    expect((await client.patch(id, { isActive: false }, { 'idempotency-key': 'a b' })).status).toBe(200);
  });
});

it('no header value stands in the store in clear', async () => {
  const client = await newAccount();
  await post(client, webhook('a', { headers: [{ key: 'X-A', value: 'planted-secret' }] }), 'planted-key');
  for await (const event of api.store.read(accountStream(client.credential.accountId))) {
    for (const secret of ['planted-secret', 'planted-key']) expect(JSON.stringify(event)).not.toContain(secret);
  }
});

describe('over a store that fails, or is watched', () => {
  let bare: BareApi | undefined;

  afterEach(async () => {
    await bare?.close();
    bare = undefined;
  });

  const send = async ({ url }: BareApi, caller: string, path = 'a') => {
    const headers = { authorization: caller, 'content-type': 'application/json', 'idempotency-key': 'k1' };
    const init = { method: 'POST', headers, body: JSON.stringify(webhook(path)) };
    const response = await fetch(`${url}/api/webhooks`, init);
    return { status: response.status, replayed: response.headers.get('idempotent-replayed') };
  };

  function failingOnce(store: EventStore, type: string): EventStore {
    let failuresLeft = 1;
    return {
      ...bound(store),
      append: (stream, events, revision) =>
        events[0]?.type === type && failuresLeft-- > 0
          ? Promise.reject(new StoreUnavailable('down'))
          : store.append(stream, events, revision),
    };
  }

  it('a 503 is not kept: after it the same request is performed, and then replayed', async () => {
    bare = await startBareApi({ between: (store) => failingOnce(store, 'WebhookAdded') });
    expect(await send(bare, 'Bearer caller-42')).toEqual({ status: 503, replayed: null });
    expect(await send(bare, 'Bearer caller-42')).toEqual({ status: 200, replayed: null });
    expect(await send(bare, 'Bearer caller-42')).toEqual({ status: 200, replayed: 'true' });
  });

  it('a refusal of the URL writes nothing, and a replay does not ask whether the URL is still allowed', async () => {
    const written: string[] = [];
    const watched = (store: EventStore): EventStore => ({
      ...failingOnce(store, ''),
      append: (stream, events, revision) => {
        written.push(...events.map(({ type }) => type));
        return store.append(stream, events, revision);
      },
    });
    let allowed = false;
    const checkEndpoint = (href: string) =>
      allowed ? ({ ok: true, href } as const) : ({ ok: false, problem: { code: 'url-invalid' } } as const);
    bare = await startBareApi({ between: watched, parts: { checkEndpoint } });
    for (let n = 0; n < 3; n += 1) expect((await send(bare, 'Bearer caller-42')).status).toBe(400);
    expect(written).toEqual([]);
    allowed = true;
    expect((await send(bare, 'Bearer caller-42')).status).toBe(200);
    allowed = false;
    expect(await send(bare, 'Bearer caller-42')).toEqual({ status: 200, replayed: 'true' });
  });

  it('24 h later the key is free', async () => {
    let now = new Date('2026-11-21T09:00:00.000Z');
    bare = await startBareApi({ parts: { now: () => now } });
    expect(await send(bare, 'Bearer caller-42')).toEqual({ status: 200, replayed: null });
    expect((await send(bare, 'Bearer caller-42', 'b')).status).toBe(422);
    now = new Date('2026-11-22T09:00:00.000Z');
    expect(await send(bare, 'Bearer caller-42', 'b')).toEqual({ status: 200, replayed: null });
  });

  it('an account nobody registered is 404, and its key is not stored', async () => {
    const streams: string[] = [];
    const between = (store: EventStore): EventStore => ({
      ...failingOnce(store, ''),
      append: (stream, events, revision) => {
        streams.push(stream);
        return store.append(stream, events, revision);
      },
    });
    bare = await startBareApi({ between });
    expect((await send(bare, 'Bearer caller-7')).status).toBe(404);
    expect(streams.filter((stream) => stream.startsWith('idempotency-'))).toEqual([]);
  });
});
