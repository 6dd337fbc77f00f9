import { Client, request } from '../../support/clients/api-client.js';
import { Browser, codeIn, entering, type Opened, opened } from '../../support/clients/portal-session.js';
import { eventually } from '../../support/clocks/eventually.js';
import { CONTEXT } from '../../support/generators/webhook-samples.js';
import { type RunningApi, startApi, startApiOnServer, tokenFor } from '../../support/scenes/api-fixture.js';

const WEBHOOK = { url: 'https://localhost/a', eventType: 'cash_in' };
const ALL = { can: ['read', 'payloads', 'resend', 'configure', 'secrets'] };

let api: RunningApi;
let second: RunningApi;
let client: Client;
let stranger: Client;

beforeAll(async () => {
  api = await startApiOnServer();
  second = await api.beside();
  client = await api.account(42);
  stranger = await api.account(43);
});

afterAll(() => api.close());

const entered = async (body: object = {}, by: Pick<Client, 'send'> = client) =>
  Browser.in(api.url, await opened(by, body));
const listed = async (by: Pick<Client, 'send'> = client) =>
  (await by.send<{ sessions: Opened[] }>('GET', '/api/portal-sessions')).body.sessions;
const statusOf = async (browser: Browser, path = '/console/session') => (await browser.send('GET', path)).status;

describe('a session', () => {
  it('is opened with a URL of the console, whose code is traded for a cookie that authenticates', async () => {
    const shown = { can: ['read', 'configure'], user: 'Ana Lima', next: '/deliveries?x=1' };
    const asked = { ...shown, returnUrl: 'https://portal.example.com/x?y=1#z' };
    const before = Date.now();
    const session = await opened(client, { ...asked, lifetime: '30m' });
    expect(session.url).toMatch(new RegExp(`^${api.url}/console#code=42[.]${session.id}[.][\\w-]{43}$`));
    const left = Date.parse(session.expiresAt) - 30 * 60_000;
    expect(left >= before && left <= Date.now()).toBe(true);

    const { status, headers, body } = await entering(api.url, codeIn(session));
    const current = { id: session.id, account: 42, ...asked, expiresAt: session.expiresAt };
    expect({ status, body }).toEqual({ status: 200, body: current });
    expect(headers.get('set-cookie')).toMatch(
      /^console-(ps_[0-9a-f]{16})=42[.]\1[.][\w-]{43}; Path=\/; Max-Age=1(7\d\d|800); HttpOnly; SameSite=Strict$/,
    );
    const browser = new Browser(api.url, (headers.get('set-cookie') ?? '').split(';')[0] ?? '');
    expect(await browser.send('GET', '/console/session')).toMatchObject({ status: 200, body: current });
    expect(await browser.send('GET', '/api/webhooks')).toMatchObject({ status: 200, body: { accountId: 42 } });
  });

  it('without more is for reading, for an hour, of no named user', async () => {
    const { id, expiresAt, url } = await opened(client);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_590_000);
    const { body } = await entering(api.url, codeIn({ url }));
    expect(body).toEqual({ id, account: 42, user: null, can: ['read'], expiresAt, next: null, returnUrl: null });
  });

  it('is the actor of what is done in it: client id and user', async () => {
    for (const user of [{ user: 'maria' }, {}]) {
      const browser = await entered({ can: ['configure', 'read'], ...user });
      const url = `https://localhost/${user.user}`;
      expect((await browser.send('POST', '/api/webhooks', { json: { ...WEBHOOK, url } })).status).toBe(200);
    }
    const { clientId } = client.credential;
    const actors = [`${clientId}/console`, `${clientId}/maria`];
    const events = actors.map((actor) => ({ actor, type: 'WebhookAdded' }));
    expect((await client.send('GET', '/api/history?type=WebhookAdded&limit=2')).body).toMatchObject({
      events,
    });
  });

  it('is listed with its user until it is ended, and then its cookie is refused', async () => {
    const { id, expiresAt, url } = await opened(client, { user: 'listed' });
    const browser = await Browser.in(api.url, { url });
    const shown = { id, user: 'listed', can: ['read'], openedAt: expect.any(String), expiresAt };
    expect(await listed()).toContainEqual(shown);
    expect((await client.send('DELETE', `/api/portal-sessions/${id}`)).status).toBe(200);
    expect(await listed()).not.toContainEqual(shown);
    expect(await statusOf(browser)).toBe(401);
    expect((await client.send('DELETE', `/api/portal-sessions/${id}`)).status).toBe(404);
  });

  it('is ended by its own browser, whose cookie is cleared', async () => {
    const browser = await entered();
    const { status, headers } = await browser.send('DELETE', '/console/session');
    const cookie = `console-${browser.sessionId}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`;
    expect({ status, cookie: headers.get('set-cookie') }).toEqual({ status: 200, cookie });
    for (const path of ['/console/session', '/api/webhooks']) expect(await statusOf(browser, path)).toBe(401);
  });

  it('ends with the credential that opened it, and only with that one', async () => {
    const other = await api.registration.issueCredential(42, CONTEXT);
    const [its, ours] = [
      await entered({}, new Client(api.url, other, await tokenFor(api.url, other))),
      await entered(),
    ];
    expect(await statusOf(its)).toBe(200);
    await api.registration.revokeCredential(other.clientId, CONTEXT);
    await eventually(async () => (await statusOf(its)) === 401);
    expect(await statusOf(ours)).toBe(200);
  });

  it('of another account can be neither listed nor ended, nor does it reach its webhooks', async () => {
    const { id } = await opened(client);
    const other = await entered(ALL, stranger);
    for (const caller of [stranger, other]) {
      const gone = await caller.send('DELETE', `/api/portal-sessions/${id}`);
      expect(gone).toMatchObject({ status: 404, body: { code: 'session-not-found' } });
      expect((await caller.send('DELETE', '/api/portal-sessions/ps_0000000000000000')).body).toEqual(gone.body);
      expect((await listed(caller)).map((one) => one.id)).not.toContain(id);
    }
    await client.post(WEBHOOK);
    const webhook = (await client.list()).webhooks[0]?.id;
    expect((await other.send('DELETE', `/api/webhooks/${webhook}`)).status).toBe(404);
  });

  it('is taken by every process, and refused by all once it has ended', async () => {
    const session = await opened(client);
    const browser = await Browser.in(second.url, session);
    expect(await statusOf(browser.at(api.url), '/api/webhooks')).toBe(200);
    await client.send('DELETE', `/api/portal-sessions/${session.id}`);
    await eventually(async () => (await statusOf(browser)) === 401);
  });

  it('opens no other, whatever its rights: only a token does', async () => {
    const browser = await entered(ALL);
    expect(await browser.send('POST', '/api/portal-sessions', { json: {} })).toMatchObject({ status: 401 });
  });
});

describe('a one-time code', () => {
  it('is used once over processes, however many come at the same time', async () => {
    const code = codeIn(await opened(client));
    const all = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => entering((n % 2 ? second : api).url, code)));
    expect(all.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it.each<[string, (code: string) => string]>([
    ['empty', () => ''],
    ['of another account', (code) => code.replace(/^42/, '43')],
    ['of another session', (code) => code.replace(/ps_[0-9a-f]{16}/, 'ps_0000000000000000')],
    ['of another secret', (code) => code.replace(/[\w-]{43}$/, 'A'.repeat(43))],
    ['with more', (code) => `${code}.`],
    ['of an account nobody registered', (code) => code.replace(/^42/, '9007199254740993')],
  ])('is refused if it is %s', async (_, changed) => {
    const answer = await entering(api.url, changed(codeIn(await opened(client))));
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: 'code' }] } });
  });

  it('is no cookie, nor the cookie a code', async () => {
    const session = await opened(client);
    const withCode = new Browser(api.url, `console-${session.id}=${codeIn(session)}`);
    expect(await statusOf(withCode)).toBe(401);
    const { cookie } = await Browser.in(api.url, session);
    expect((await entering(api.url, cookie.split('=')[1] ?? '')).status).toBe(400);
    expect(await statusOf(withCode)).toBe(401);
  });
});

describe('what opens a session is checked', () => {
  it.each<[string, object]>([
    ['can', { can: [] }],
    ['can[1]', { can: ['read', 'everything'] }],
    ['user', { user: 'a/b' }],
    ['user', { user: ' a' }],
    ['user', { user: 'a\u202eb' }],
    ['user', { user: 'a\nb' }],
    ['lifetime', { lifetime: '0s' }],
    ['lifetime', { lifetime: '61m' }],
    ['lifetime', { lifetime: '1.5h' }],
    ['next', { next: 'deliveries' }],
    ['next', { next: '//evil.example' }],
    ['next', { next: '/\\evil.example' }],
    ['next', { next: '/\t/evil.example' }],
    ['next', { next: 'https://evil.example' }],
    ['returnUrl', { returnUrl: 'http://portal.example.com' }],
    ['returnUrl', { returnUrl: 'javascript:alert(1)' }],
    ['returnUrl', { returnUrl: 'https://user:pw@portal.example.com' }],
    ['returnUrl', { returnUrl: 'https://' }],
  ])('%s: %j', async (field, json) => {
    const answer = await client.send('POST', '/api/portal-sessions', { json });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field }] } });
  });

  it.each([{ user: 'Zoë Ünal-Śmith' }, { user: '用户' }, { user: 'a@b.example' }, { next: '/' }, { lifetime: '1h' }])(
    '%j is taken',
    async (body) => {
      expect(await opened(client, body)).toMatchObject({ id: expect.any(String) });
    },
  );
});

describe('a cookie', () => {
  it('does nothing without the header x-console, so another site can make its browser do nothing', async () => {
    const browser = await entered(ALL);
    const cross = { cookie: browser.cookie, origin: 'https://evil.example' };
    const asked: [string, string, object?][] = [
      ['GET', '/console/session'],
      ['DELETE', '/console/session'],
      ['GET', '/api/webhooks'],
      ['POST', '/api/webhooks', WEBHOOK],
      ['POST', '/api/portal-sessions', {}],
      ['OPTIONS', '/api/webhooks'],
    ];
    for (const [method, path, json] of asked) {
      const { status, headers } = await request(api.url, method, path, { headers: cross, json });
      expect({ method, path, status }).toEqual({ method, path, status: method === 'OPTIONS' ? 405 : 401 });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    expect(await statusOf(browser)).toBe(200);
  });

  it.each(['Basic dXNlcjpwdw==', 'Negotiate YII=', '', 'BearerX y'])(
    'is taken beside an Authorization header that is not Bearer: %j',
    async (authorization) => {
      const browser = await entered(ALL);
      for (const path of ['/console/session', '/api/webhooks'])
        expect((await browser.send('GET', path, { headers: { authorization } })).status).toBe(200);
    },
  );

  it('is not taken beside a Bearer token, nor by the operations of publishers', async () => {
    const browser = await entered(ALL);
    const beside = await browser.send('GET', '/api/webhooks', { headers: { authorization: 'Bearer x' } });
    expect(beside.status).toBe(401);
    const json = { id: 'a', type: 'cash_in', accountId: 42 };
    expect((await browser.send('POST', '/api/payment-events', { json })).status).toBe(401);
  });

  it('is Secure and of this host alone where the service is not on loopback', async () => {
    const far = await startApi({ PUBLIC_URL: 'https://webhooks.example.com' });
    try {
      const session = await opened(await far.account(42));
      expect(session.url).toMatch(/^https:\/\/webhooks[.]example[.]com\/console#code=/);
      const cookie = (await entering(far.url, codeIn(session))).headers.get('set-cookie') ?? '';
      expect(cookie).toMatch(/^__Host-console-ps_\w+=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/);
      const browser = new Browser(far.url, cookie.split(';')[0] ?? '');
      expect(await statusOf(browser)).toBe(200);
      expect(await statusOf(new Browser(far.url, browser.cookie.replace('__Host-', '')))).toBe(401);
    } finally {
      await far.close();
    }
  });
});
