/** PATCH and DELETE /api/webhooks/{id}. Their decisions are those of test/webhooks/decide.test.ts. */
import type { Answer, Client } from '../support/clients/api-client.js';
import { accountForEachTest, type RunningApi, startApiOnServer } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let client: Client;

accountForEachTest((own, running) => {
  [client, api] = [own, running];
}, startApiOnServer);

const urlOf = (path: string) => `https://shop.example.com/${path}`;
const add = (path: string, more: object = {}) => client.post({ url: urlOf(path), eventType: 'cash_in', ...more });

/** Adds a webhook for each path, all of the type cash_in. @returns the id of the first */
async function added(...paths: readonly string[]): Promise<number> {
  for (const path of paths) expectDone(await add(path));
  return (await client.list()).webhooks[0]?.id ?? 0;
}

const shown = async (by = client) =>
  (await by.list()).webhooks.map(({ url, isActive }) => `${url.split('/').at(-1)}${isActive ? '' : ' off'}`);

function expectDone(answer: Answer): void {
  expect(answer).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } });
}

function expectRefused(answer: Answer, status: number): void {
  expect(answer).toMatchObject({ status, body: { success: false, message: expect.any(String) } });
}

describe('PATCH', () => {
  it('switches a webhook off and on, which the next GET shows, and changes nothing else', async () => {
    const id = await added('a', 'b');
    const before = await client.list();
    const [first, second] = before.webhooks;
    for (const _ of ['done', 'done already']) expectDone(await client.patch(id, { isActive: false }));
    expect((await client.list()).webhooks).toEqual([{ ...first, isActive: false }, second]);
    for (const _ of ['done', 'done already']) expectDone(await client.patch(id, { isActive: true }));
    expect(await client.list()).toEqual(before);
  });

  it('makes place for another, and is 400 at isActive where there is none left', async () => {
    const id = await added('a', 'b', 'c');
    await client.patch(id, { isActive: false });
    expectDone(await add('d'));
    const refused = await client.patch(id, { isActive: true });
    expectRefused(refused, 400);
    const message = expect.stringMatching(/isActive.*3 active/);
    expect(refused.body.errors).toEqual([{ field: 'isActive', message, code: 'limit-reached', params: { limit: 3 } }]);
    expect(await shown()).toEqual(['a off', 'b', 'c', 'd']);
  });

  it.each<[string, unknown]>([
    ['fields that it does not know', { isactive: true, eventType: 'cash_out' }],
    ['fields in the prototype only', '{"__proto__":{"isActive":false}}'],
  ])('is 400 for a body of %s, and names what it may have', async (_, body) => {
    const answer = await client.patch(await added('a'), body);
    expectRefused(answer, 400);
    expect(answer.body.message).toBe('the body has none of url, headers and isActive');
    expect(await shown()).toEqual(['a']);
  });

  it('ignores fields it does not know beside one that it knows', async () => {
    expectDone(await client.patch(await added('a'), { isActive: false, id: 'x', eventType: null }));
    expect(await shown()).toEqual(['a off']);
  });
});

describe('PATCH with another URL', () => {
  const headers = [{ key: 'X-Api-Key', value: 'k-1' }];

  it('keeps the id, the place and the headers; list, answer and history say when', async () => {
    expectDone(await add('a', { headers }));
    const id = await added('z');
    const [webhook] = (await client.list()).webhooks;
    expectDone(await client.patch(id, { url: 'HTTPS://shop.example.com/b' }));
    const { webhooks } = await client.list();
    const moved = { ...webhook, url: 'HTTPS://shop.example.com/b', movedAt: expect.stringMatching(/^\d{4}-.*Z$/) };
    expect(webhooks).toEqual([moved, expect.not.objectContaining({ movedAt: expect.anything() })]);
    expect((await client.send('GET', `/api/webhooks/${id}`)).body).toMatchObject({ webhook: webhooks[0] });
    const change = {
      ...{ type: 'WebhookUpdated', webhookId: id },
      details: {
        before: { eventType: 'cash_in', url: 'https://shop.example.com/a', headers: ['X-Api-Key'] },
        after: { eventType: 'cash_in', url: 'HTTPS://shop.example.com/b', headers: ['X-Api-Key'] },
        headersChanged: false,
      },
      changes: expect.stringContaining('after eventType cash_in, url HTTPS://shop.example.com/b, headers X-Api-Key'),
    };
    expect((await client.send('GET', '/api/history?limit=1')).body).toMatchObject({ events: [change] });
  });

  it('replaces the headers that are given, all of them; another spelling of the URL moves nothing', async () => {
    await add('a', { headers });
    const [webhook] = (await client.list()).webhooks;
    expectDone(await client.patch(webhook?.id ?? 0, { headers: [{ key: 'X-Other', value: '' }] }));
    expect((await client.list()).webhooks).toEqual([{ ...webhook, headers: { 'X-Other': '' } }]);
    expectDone(await client.patch(webhook?.id ?? 0, { url: 'https://SHOP.example.com/a', headers: [] }));
    expect((await client.list()).webhooks).toEqual([{ ...webhook, url: 'https://SHOP.example.com/a', headers: {} }]);
  });

  it('is 400 at url where another webhook of the type has it', async () => {
    const refused = await client.patch(await added('a', 'b'), { url: urlOf('b'), isActive: false });
    expectRefused(refused, 400);
    expect(refused.body.errors?.map(({ field }) => field)).toEqual(['url']);
    expect(await shown()).toEqual(['a', 'b']);
  });

  it.each<[string, object, string[]]>([
    ['http', { url: 'http://shop.example.com/' }, ['url']],
    ['null', { url: null, headers: null }, ['headers', 'url']],
    ['both', { url: 'http://a.example.com/', headers: [{ key: 'a b', value: '' }] }, ['headers[0].key', 'url']],
  ])('is 400 as a registration is: %s', async (_, body, fields) => {
    const answer = await client.patch(await added('a'), body);
    expectRefused(answer, 400);
    expect(answer.body.errors?.map(({ field }) => field).sort()).toEqual(fields);
    expect(await shown()).toEqual(['a']);
  });
});

describe('DELETE', () => {
  it('removes a webhook, on or off, which the next GET shows; once more is 404', async () => {
    const id = await added('a', 'b');
    await client.patch(id, { isActive: false });
    expectDone(await client.remove(id));
    expect(await shown()).toEqual(['b']);
    expectRefused(await client.remove(id), 404);
    expectRefused(await client.patch(id, { isActive: true }), 404);
  });

  it('does not look at a body', async () => {
    const options = { headers: { 'content-type': 'text/plain' }, bytes: 'nonsense' };
    expectDone(await client.send('DELETE', `/api/webhooks/${await added('a')}`, options));
  });
});

describe('an id', () => {
  it.each([
    ...['0', '-1', 'null', '9007199254740993', '1'.repeat(400), '%00', '１', '__proto__', '..%2f1', '%'],
    ...['0ID', '+ID', 'ID.0', 'IDe0', '0xID', 'ID%20', '%20ID', '%0aID', 'ID,ID', '"ID"'],
  ])('has one spelling: %s is 404', async (spelling) => {
    const id = spelling.replaceAll('ID', String(await added('a')));
    expectRefused(await client.patch(id, { isActive: false }), 404);
    expectRefused(await client.remove(id), 404);
    expect(await shown()).toEqual(['a']);
  });

  it('of another account is 404, and its webhook stays as it is', async () => {
    const id = await added('a');
    const stranger = await api.account(10_000);
    expectRefused(await stranger.patch(id, { isActive: false }), 404);
    expectRefused(await stranger.remove(id), 404);
    expect(await shown()).toEqual(['a']);
  });
});

it('in two processes what one has just stored the other knows of: nothing is refused for lack of news', async () => {
  const second = await api.beside();
  const id = await added('x');
  const other = client.at(second.url);
  for (let round = 0; round < 10; round += 1) {
    expectDone(await client.patch(id, { isActive: false }));
    expectDone(await other.patch(id, { isActive: true }));
    expect(await shown(other)).toEqual(['x']);
    expectDone(await add(`y${round}`));
    const latest = (await client.list()).webhooks.at(-1)?.id ?? 0;
    expectDone(await other.remove(latest));
    expectRefused(await client.remove(latest), 404);
  }
});
