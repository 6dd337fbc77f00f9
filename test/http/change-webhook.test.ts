import type { Answer, Client } from '../support/clients/api-client.js';
import { type RunningApi, startApiOnServer } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let lastAccount = 0;

beforeAll(async () => {
  api = await startApiOnServer();
});

afterAll(() => api.close());

/** An account with a webhook for each path, all of the type cash_in; the ids are in their order. */
async function accountWith(...paths: readonly string[]): Promise<{ client: Client; ids: readonly number[] }> {
  lastAccount += 1;
  const client = await api.account(lastAccount);
  for (const path of paths) expect(await add(client, path)).toMatchObject({ status: 200 });
  return { client, ids: (await client.list()).webhooks.map(({ id }) => id) };
}

const add = (client: Client, path: string, eventType = 'cash_in') =>
  client.post({ url: `https://shop.example.com/${path}`, eventType });

const shown = async (client: Client) =>
  (await client.list()).webhooks.map(({ url, isActive }) => `${url.split('/').at(-1)}${isActive ? '' : ' off'}`);

const only = <T>([item]: readonly T[]): T => item as T;

function expectDone(answer: Answer): void {
  expect({ status: answer.status, body: answer.body }).toMatchObject({
    status: 200,
    body: { success: true, message: expect.any(String) },
  });
}

function expectRefused(answer: Answer, status: number): void {
  expect(answer).toMatchObject({
    status,
    body: { success: false, message: expect.any(String), code: expect.any(String) },
  });
}

const BAD_IDS = [
  ...['0', '-1', '1e3', '007', '1.0', '+1', 'text', 'null', '9007199254740993', '1'.repeat(400), '%00', '%31%20', '１'],
  ...['__proto__', 'constructor', '0x1', '1,2', '..%2f1', '%', '4611686018427387904'],
];

describe('PATCH /api/webhooks/{id}', () => {
  it('switches a webhook off and on, which the next GET shows, and changes nothing else', async () => {
    const { client, ids } = await accountWith('a', 'b');
    const before = await client.list();
    expectDone(await client.patch(only(ids), { isActive: false }));
    expect(await client.list()).toEqual({
      ...before,
      webhooks: [{ ...before.webhooks[0], isActive: false }, before.webhooks[1]],
    });
    expectDone(await client.patch(only(ids), { isActive: true }));
    expect(await client.list()).toEqual(before);
  });

  it('to what it is already is 200 as well', async () => {
    const { client, ids } = await accountWith('a');
    expectDone(await client.patch(only(ids), { isActive: true }));
    expectDone(await client.patch(only(ids), { isActive: false }));
    expectDone(await client.patch(only(ids), { isActive: false }));
    expect(await shown(client)).toEqual(['a off']);
  });

  it('makes place for another, and is 400 at isActive where there is none left', async () => {
    const { client, ids } = await accountWith('a', 'b', 'c');
    await client.patch(only(ids), { isActive: false });
    expectDone(await add(client, 'd'));
    const refused = await client.patch(only(ids), { isActive: true });
    expectRefused(refused, 400);
    expect(refused.body.errors).toEqual([
      {
        field: 'isActive',
        message: expect.stringMatching(/isActive.*3 active/),
        code: 'limit-reached',
        params: { limit: 3 },
      },
    ]);
    expect(refused.body.message).toContain('isActive');
    expect(await shown(client)).toEqual(['a off', 'b', 'c', 'd']);
    expectDone(await client.patch(ids[1] ?? 0, { isActive: false }));
    expectDone(await client.patch(only(ids), { isActive: true }));
  });

  it('of several at once makes no more active than three', async () => {
    const { client, ids } = await accountWith('a', 'b', 'c');
    for (const id of ids) await client.patch(id, { isActive: false });
    for (const path of ['d', 'e', 'f']) await add(client, path);
    await client.remove((await client.list()).webhooks[3]?.id ?? 0);
    const answers = await Promise.all(ids.map((id) => client.patch(id, { isActive: true })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expect((await client.list()).webhooks.filter(({ isActive }) => isActive)).toHaveLength(3);
  });

  it.each<[string, unknown]>([
    ['nothing', {}],
    ['fields that it does not know', { isactive: true, eventType: 'cash_out' }],
    ['fields in the prototype only', '{"__proto__":{"isActive":false}}'],
  ])('is 400 for a body of %s, and names what it may have', async (_, body) => {
    const { client, ids } = await accountWith('a');
    const answer = await client.patch(only(ids), body);
    expectRefused(answer, 400);
    expect(answer.body.message).toBe('the body has none of url, headers and isActive');
    expect(await shown(client)).toEqual(['a']);
  });

  it('ignores fields it does not know', async () => {
    const { client, ids } = await accountWith('a');
    expectDone(await client.patch(only(ids), { isActive: false, id: 'x', eventType: null }));
    expect(await shown(client)).toEqual(['a off']);
  });

  it.each(BAD_IDS)('is 404 for the id %s', async (id) => {
    const { client } = await accountWith('a');
    expectRefused(await client.patch(id, { isActive: false }), 404);
    expect(await shown(client)).toEqual(['a']);
  });
});

describe('PATCH /api/webhooks/{id} with another URL', () => {
  const urlOf = (path: string) => `https://shop.example.com/${path}`;
  const given = { key: 'X-Api-Key', value: 'k-1' };
  const withHeaders = async (path: string) => {
    const { client } = await accountWith();
    await client.post({ url: urlOf(path), eventType: 'cash_in', headers: [given] });
    const [webhook] = (await client.list()).webhooks;
    if (!webhook) throw new Error('no webhook');
    return { client, webhook };
  };

  it('keeps the id, the place and the headers; list, answer and history say when', async () => {
    const { client, webhook } = await withHeaders('a');
    expectDone(await add(client, 'z'));
    expectDone(await client.patch(webhook.id, { url: 'HTTPS://shop.example.com/b' }));
    const { webhooks } = await client.list();
    const moved = { ...webhook, url: 'HTTPS://shop.example.com/b', movedAt: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(webhooks).toEqual([moved, expect.not.objectContaining({ movedAt: expect.anything() })]);
    expect((await client.send('GET', `/api/webhooks/${webhook.id}`)).body).toMatchObject({ webhook: webhooks[0] });
    const { events } = (await client.send('GET', '/api/history')).body as unknown as { events: { at: string }[] };
    expect(events).toContainEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      actor: expect.any(String),
      type: 'WebhookUpdated',
      webhookId: webhook.id,
      details: {
        before: { eventType: 'cash_in', url: 'https://shop.example.com/a', headers: ['X-Api-Key'] },
        after: { eventType: 'cash_in', url: 'HTTPS://shop.example.com/b', headers: ['X-Api-Key'] },
        headersChanged: false,
      },
      changes: 'updated: cash_in HTTPS://shop.example.com/b v2, headers X-Api-Key',
    });
  });

  it('replaces the headers that are given, all of them; another spelling of the URL moves nothing', async () => {
    const { client, webhook } = await withHeaders('a');
    expectDone(await client.patch(webhook.id, { headers: [{ key: 'X-Other', value: '' }] }));
    expect((await client.list()).webhooks).toEqual([{ ...webhook, headers: { 'X-Other': '' } }]);
    expectDone(await client.patch(webhook.id, { url: 'https://SHOP.example.com/a', headers: [] }));
    expect((await client.list()).webhooks).toEqual([{ ...webhook, url: 'https://SHOP.example.com/a', headers: {} }]);
  });

  it('leaves one that is off off, unless isActive says otherwise', async () => {
    const { client, ids } = await accountWith('a');
    expectDone(await client.patch(only(ids), { isActive: false }));
    expectDone(await client.patch(only(ids), { url: urlOf('b') }));
    expect(await shown(client)).toEqual(['b off']);
    expectDone(await client.patch(only(ids), { url: urlOf('c'), isActive: true }));
    expect(await shown(client)).toEqual(['c']);
  });

  it('is 400 at url where another webhook of the type has it; of another type it is free', async () => {
    const { client, ids } = await accountWith('a', 'b');
    await add(client, 'c', 'cash_out');
    const refused = await client.patch(only(ids), { url: urlOf('b'), isActive: false });
    expectRefused(refused, 400);
    expect(refused.body.errors?.map(({ field }) => field)).toEqual(['url']);
    expect(await shown(client)).toEqual(['a', 'b', 'c']);
    expectDone(await client.patch(only(ids), { url: urlOf('c') }));
    expect(await shown(client)).toEqual(['c', 'b', 'c']);
  });

  it.each<[string, object, string[]]>([
    ['http', { url: 'http://shop.example.com/' }, ['url']],
    ['a fragment', { url: 'https://shop.example.com/#a' }, ['url']],
    ['a number', { url: 1 }, ['url']],
    ['null', { url: null, headers: null }, ['headers', 'url']],
    ['a header of ours', { headers: [{ key: 'host', value: 'x' }] }, ['headers[0].key']],
    ['both', { url: 'http://a.example.com/', headers: [{ key: 'a b', value: '' }] }, ['headers[0].key', 'url']],
    ['six headers', { headers: Array.from({ length: 6 }, (_, n) => ({ key: `X-${n}`, value: '' })) }, ['headers']],
  ])('is 400 as a registration is: %s', async (_, body, fields) => {
    const { client, ids } = await accountWith('a');
    const answer = await client.patch(only(ids), body);
    expectRefused(answer, 400);
    expect(answer.body.errors?.map(({ field }) => field).sort()).toEqual(fields);
    expect(await shown(client)).toEqual(['a']);
  });
});

describe('DELETE /api/webhooks/{id}', () => {
  it('removes a webhook, which the next GET shows; once more is 404', async () => {
    const { client, ids } = await accountWith('a', 'b');
    expectDone(await client.remove(only(ids)));
    expect(await shown(client)).toEqual(['b']);
    expectRefused(await client.remove(only(ids)), 404);
    expectRefused(await client.patch(only(ids), { isActive: true }), 404);
  });

  it('makes place for another; the same URL again is a new webhook at the end', async () => {
    const { client, ids } = await accountWith('a', 'b', 'c');
    expectDone(await client.remove(only(ids)));
    expectDone(await add(client, 'a'));
    const { webhooks, total } = await client.list();
    expect(await shown(client)).toEqual(['b', 'c', 'a']);
    expect({ total, isNew: !ids.includes(webhooks[2]?.id ?? 0) }).toEqual({ total: 3, isNew: true });
  });

  it('of one that is off removes it too', async () => {
    const { client, ids } = await accountWith('a');
    await client.patch(only(ids), { isActive: false });
    expectDone(await client.remove(only(ids)));
    expect(await shown(client)).toEqual([]);
  });

  it('does not look at a body', async () => {
    const { client, ids } = await accountWith('a');
    const options = { headers: { 'content-type': 'text/plain' }, bytes: 'nonsense' };
    expectDone(await client.send('DELETE', `/api/webhooks/${only(ids)}`, options));
  });

  it('twenty times at once is done once', async () => {
    const { client, ids } = await accountWith('a');
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.remove(only(ids))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(404)]);
  });

  it.each(BAD_IDS)('is 404 for the id %s', async (id) => {
    const { client } = await accountWith('a');
    expectRefused(await client.remove(id), 404);
    expect(await shown(client)).toEqual(['a']);
  });
});

it.each(['0ID', '00ID', '+ID', '-ID', 'ID.0', 'IDe0', 'ID%20', '%20ID', '%0aID', 'ID%0a', 'ID,ID', '"ID"', '[ID]'])(
  'an id has one spelling: %s is 404',
  async (spelling) => {
    const { client, ids } = await accountWith('a');
    const id = spelling.replaceAll('ID', String(only(ids)));
    expectRefused(await client.patch(id, { isActive: false }), 404);
    expectRefused(await client.remove(id), 404);
    expect(await shown(client)).toEqual(['a']);
  },
);

it('another account’s webhook is 404, and stays as it is', async () => {
  const owner = await accountWith('a');
  const stranger = await accountWith('a');
  expectRefused(await stranger.client.patch(only(owner.ids), { isActive: false }), 404);
  expectRefused(await stranger.client.remove(only(owner.ids)), 404);
  expect(await shown(owner.client)).toEqual(['a']);
  expect(await shown(stranger.client)).toEqual(['a']);
});

it('another method is 405 with GET, PATCH and DELETE', async () => {
  const { client, ids } = await accountWith('a');
  for (const method of ['POST', 'PUT', 'OPTIONS']) {
    const { status, headers } = await client.send(method, `/api/webhooks/${only(ids)}`);
    const allowed = headers.get('allow')?.split(', ').sort();
    expect({ method, status, allowed }).toEqual({ method, status: 405, allowed: ['DELETE', 'GET', 'HEAD', 'PATCH'] });
  }
});

describe('in two processes', () => {
  let second: RunningApi;

  beforeAll(async () => {
    second = await api.beside();
  });

  afterAll(() => second.close());

  it('what one has just stored the other knows of: nothing is 404, refused or left undone for lack of news', async () => {
    const { client, ids } = await accountWith('x');
    const other = client.at(second.url);
    for (let round = 0; round < 10; round += 1) {
      expectDone(await client.patch(only(ids), { isActive: false }));
      expectDone(await other.patch(only(ids), { isActive: true }));
      expect(await shown(other)).toEqual(['x']);
      expectDone(await add(client, `y${round}`));
      const added = (await client.list()).webhooks.at(-1)?.id ?? 0;
      expectDone(await other.remove(added));
      expectRefused(await client.remove(added), 404);
    }
  });
});
