/** POST /console/session/preview: whose session a code is for. */
import { StoreUnavailable } from '../../../src/ports/event-store.js';
import { type Answer, request } from '../../support/clients/api-client.js';
import { codeIn, entering, opened } from '../../support/clients/portal-session.js';
import { type BareApi, startBareApi } from '../../support/scenes/bare-api.js';

const ORIGIN = 'https://portal.example.com';
let api: BareApi;
let time: number;

beforeEach(async () => {
  time = Date.parse('2026-11-21T09:00:00.000Z');
  api = await startBareApi({
    parts: { now: () => new Date(time), console: { files: null, frameAncestors: [ORIGIN] } },
  });
});
afterEach(() => api.close());

const preview = (code: unknown, cookie = ''): Promise<Answer> =>
  request(api.url, 'POST', '/console/session/preview', { json: { code }, headers: { cookie } });
const cookieOf = (account: number, digit: string) => {
  const id = `ps_${digit.repeat(16)}`;
  return `console-${id}=${account}.${id}.${digit.repeat(43)}`;
};
const refused = { status: 400, body: { code: 'invalid-fields', errors: [{ field: 'code', code: 'code-refused' }] } };

it('shows account, user and rights, redeems nothing and sets no cookie', async () => {
  const session = await opened(api.client(), { user: 'maria', can: ['read', 'resend'], lifetime: '10m' });
  for (let n = 0; n < 3; n += 1) {
    const { status, headers, body } = await preview(codeIn(session));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        account: 42,
        user: 'maria',
        can: ['read', 'resend'],
        expiresAt: session.expiresAt,
        hasOtherAccount: false,
        trustedOrigins: [ORIGIN],
      },
    });
    expect(headers.get('set-cookie')).toBeNull();
  }
  expect((await entering(api.url, codeIn(session))).status).toBe(200);
});

it.each([
  ['no cookie', '', false],
  ['a cookie of this account', cookieOf(42, '1'), false],
  ['a cookie of another account', `${cookieOf(42, '1')}; ${cookieOf(43, '2')}`, true],
  ['malformed cookies', 'console-ps_1=43; console-ps_2222222222222222=43.x; __Host-console-=; =;;', false],
  ['a cookie of 8 KiB', `console-ps_${'2'.repeat(16)}=43.${'x'.repeat(8_192)}`, false],
])('reports whether the browser has a session of another account: %s', async (_, cookie, hasOtherAccount) => {
  expect((await preview(codeIn(await opened(api.client())), cookie)).body).toMatchObject({ hasOtherAccount });
});

it('rejects a code that is wrong, was used, has expired, or is that of a session that was ended, all alike', async () => {
  const used = await opened(api.client());
  await entering(api.url, codeIn(used));
  const ended = await opened(api.client());
  await api.client().send('DELETE', `/api/portal-sessions/${ended.id}`);
  const good = codeIn(await opened(api.client()));
  const guessed = `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`;
  for (const code of [codeIn(used), codeIn(ended), guessed, 'x', '', '42.ps_0000000000000000.x']) {
    expect(await preview(code)).toMatchObject(refused);
  }
  time += 60_000;
  expect(await preview(good)).toMatchObject(refused);
});

it('of 50 concurrent previews and sign-ins, one sign-in succeeds', async () => {
  const code = codeIn(await opened(api.client()));
  const previews = Array.from({ length: 25 }, () => preview(code));
  const entered = await Promise.all(Array.from({ length: 25 }, () => entering(api.url, code)));
  expect(entered.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const { status } of await Promise.all(previews)) expect([200, 400]).toContain(status);
  expect(await preview(code)).toMatchObject(refused);
});

it('is 503 while the session cannot be looked up', async () => {
  const code = codeIn(await opened(api.client()));
  const away = await startBareApi({
    parts: { accounts: { session: () => Promise.reject(new StoreUnavailable('planted')) } as never },
  });
  try {
    const { status, headers } = await request(away.url, 'POST', '/console/session/preview', { json: { code } });
    expect([status, headers.has('retry-after')]).toEqual([503, true]);
  } finally {
    await away.close();
  }
});

it('takes 8 KiB of whoever has no session yet', async () => {
  expect((await preview('x'.repeat(8_000))).status).toBe(400);
  expect((await preview('x'.repeat(8_192))).status).toBe(413);
});
