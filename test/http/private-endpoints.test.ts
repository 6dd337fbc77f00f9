import type { Client } from '../support/clients/api-client.js';
import { type RunningApi, startApi } from '../support/scenes/api-fixture.js';

let api: RunningApi;
let client: Client;
let lastAccount = 0;

beforeAll(async () => {
  api = await startApi({ ALLOW_PRIVATE_ENDPOINTS: 'true', ALLOWED_PORTS: '443,20000-20100' });
  client = await newAccount();
});

afterAll(() => api.close());

function newAccount(): Promise<Client> {
  lastAccount += 1;
  return api.account(lastAccount);
}

const post = (url: string) => client.post({ url, eventType: 'cash_in' });

it.each([
  'https://127.0.0.1/',
  'https://[::1]:20000/',
  'https://localhost:20100/',
  'https://intranet/',
  'https://a.test/',
])('ALLOW_PRIVATE_ENDPOINTS lifts what a host may be: %s', async (url) => {
  const own = await newAccount();
  expect((await own.post({ url, eventType: 'cash_in' })).status).toBe(200);
});

it.each([
  ...['http://localhost/', 'https://localhost:8443/', 'https://localhost:20101/', 'https://user@localhost/'],
  ...['https://localhost/#a', 'https://localhost./', 'https://127.0.0.1./', 'https://local host/', 'https://a\\b/'],
])('and nothing else: %s', async (url) => {
  expect(await post(url)).toMatchObject({ status: 400, body: { errors: [{ field: 'url' }] } });
});

it('DENIED_ADDRESSES are refused all the same, as literals; a name is judged when it is connected to', async () => {
  const settings = { ALLOW_PRIVATE_ENDPOINTS: 'true', DENIED_ADDRESSES: '127.0.0.0/8,fd00::/8' };
  const other = await startApi(settings);
  try {
    const account = await other.account(1);
    const answered = async (host: string) => {
      const { status, body } = await account.post({ url: `https://${host}/`, eventType: 'cash_in' });
      return status === 200 ? 'taken' : `${status} ${body.errors?.map(({ field }) => field)}`;
    };
    const denied = ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[fd00::1]'];
    for (const host of denied) expect(await answered(host)).toBe('400 url');
    expect(await answered('10.0.0.1')).toBe('taken');
    expect(await answered('localhost')).toBe('taken');
  } finally {
    await other.close();
  }
});
