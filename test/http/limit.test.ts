import type { Client } from '../support/clients/api-client.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

const twenty = Array.from({ length: 20 }, (_, index) => index + 1);

let api: RunningApi;

beforeAll(async () => {
  api = await startApi();
});

afterAll(() => api.close());

const webhook = (path: number | string, eventType = 'cash_in') => ({
  url: `https://shop.example.com/${path}`,
  eventType,
});

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort();

async function full(accountId: number): Promise<Client> {
  const client = await api.account(accountId);
  for (const path of [1, 2, 3]) expect(await client.post(webhook(path))).toMatchObject({ status: 200 });
  return client;
}

it('a fourth active URL for a type is 400, names the field, and changes nothing', async () => {
  const client = await full(1);
  const before = await client.list();
  const { status, body } = await client.post(webhook(4));
  expect(status).toBe(400);
  expect(body).toEqual({
    success: false,
    message: expect.stringMatching(/eventType/),
    code: 'invalid-fields',
    errors: [
      { field: 'eventType', message: expect.stringMatching(/3 active/), code: 'limit-reached', params: { limit: 3 } },
    ],
  });
  expect(await client.list()).toEqual(before);
});

it('with three of a type its URLs can be updated, other types are free, and other accounts are', async () => {
  const client = await full(2);
  const other = await api.account(3);
  const headers = [{ key: 'X-A', value: 'v' }];
  expect((await client.post({ ...webhook(2), headers })).status).toBe(200);
  expect((await client.post({ ...webhook(3), url: 'https://SHOP.example.com:443/3' })).status).toBe(200);
  for (const path of [1, 2, 4]) expect((await client.post(webhook(path, 'cash_out'))).status).toBe(200);
  expect((await client.post(webhook(5, 'cash_out'))).status).toBe(400);
  expect((await other.post(webhook(4))).status).toBe(200);
  expect((await client.list()).total).toBe(6);
});

it('of 20 different URLs for a type at once exactly three are taken', async () => {
  const client = await api.account(4);
  const answers = await Promise.all(twenty.map((path) => client.post(webhook(path))));
  expect(statuses(answers)).toEqual([200, 200, 200, ...Array<number>(17).fill(400)]);
  const { webhooks, total } = await client.list();
  const takenPaths = twenty.filter((_, index) => answers[index]?.status === 200);
  expect(total).toBe(3);
  expect(webhooks.map(({ url }) => Number(url.split('/').at(-1))).sort((a, b) => a - b)).toEqual(takenPaths);
});

it('of 20 times the same URL at once all are taken, and one entry is left', async () => {
  const client = await api.account(5);
  const answers = await Promise.all(twenty.map(() => client.post(webhook('same'))));
  expect(statuses(answers)).toEqual(Array<number>(20).fill(200));
  expect(answers.filter(({ body }) => body.message === 'webhook registered')).toHaveLength(1);
  expect((await client.list()).webhooks.map(({ url }) => url)).toEqual(['https://shop.example.com/same']);
});

it('each POST is seen by the GET that follows it, while others are under way', async () => {
  const seen = async (accountId: number) => {
    const client = await api.account(accountId);
    for (const path of [1, 2, 3]) {
      await client.post(webhook(path));
      expect((await client.list()).total).toBe(path);
    }
  };
  await Promise.all(twenty.slice(0, 8).map((index) => seen(100 + index)));
});
