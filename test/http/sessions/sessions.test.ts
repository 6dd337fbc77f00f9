import { Browser, codeIn, entering, JSON_TYPE, opened, sent } from '../../support/clients/portal-session.js';
import { eventually } from '../../support/eventually.js';
import { CONTEXT } from '../../support/generators/webhook-samples.js';
import { type Client, type RunningApi, startApi, startApiOnServer } from '../../support/scenes/api-fixture.js';

const WEBHOOK = JSON.stringify({ url: 'https://localhost/a', eventType: 'cash_in' });
const ALL = ['read', 'payloads', 'resend', 'configure', 'secrets'];

let api: RunningApi;
let client: Client;
let stranger: Client;

beforeAll(async () => {
  api = await startApiOnServer();
  client = await api.account(42);
  stranger = await api.account(43);
});

afterAll(() => api.close());

const entered = async (body: object = {}, by: Pick<Client, 'send'> = client) =>
  Browser.in(api.url, await opened(by, body));
const post = (browser: Browser, body: object) =>
  browser.send('POST', '/api/portal-sessions', { headers: JSON_TYPE, bytes: JSON.stringify(body) });

describe('a session', () => {
  it('is opened with a URL of the console, whose code is traded for a cookie that authenticates', async () => {
    const asked = { can: ['read', 'configure'], user: 'Ana Lima', lifetime: '30m', next: '/deliveries?x=1' };
    const before = Date.now();
    const session = await opened(client, { ...asked, returnUrl: 'https://portal.example.com/x?y=1#z' });
    expect(session.url).toMatch(new RegExp(`^${api.url}/console#code=42[.]${session.id}[.][\\w-]{43}$`));
    const left = Date.parse(session.expiresAt) - 30 * 60_000;
    expect(left >= before && left <= Date.now()).toBe(true);

    const { status, headers, body } = await entering(api.url, codeIn(session));
    const shown = {
      ...{ id: session.id, account: 42, user: 'Ana Lima', can: ['read', 'configure'], expiresAt: session.expiresAt },
      ...{ next: '/deliveries?x=1', returnUrl: 'https://portal.example.com/x?y=1#z' },
    };
    expect({ status, body }).toEqual({ status: 200, body: shown });
    expect(headers.get('set-cookie')).toMatch(
      /^console-(ps_[0-9a-f]{16})=42[.]\1[.][\w-]{43}; Path=\/; Max-Age=1(7\d\d|800); HttpOnly; SameSite=Strict$/,
    );
    const browser = new Browser(api.url, (headers.get('set-cookie') ?? '').split(';')[0] ?? '');
    expect(await browser.send('GET', '/console/session')).toMatchObject({ status: 200, body: shown });
    expect(await browser.send('GET', '/api/webhooks')).toMatchObject({ status: 200, body: { accountId: 42 } });
  });

  it('without more is for reading, for an hour, of no named user', async () => {
    const { expiresAt, ...session } = await opened(client);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(3_590_000);
    const { body } = await entering(api.url, codeIn(session));
    const id = session.id;
    expect(body).toEqual({ id, account: 42, user: null, can: ['read'], expiresAt, next: null, returnUrl: null });
  });

  it('is the actor of what is done in it: client id and user', async () => {
    const { clientId } = client.credential;
    const named = await entered({ can: ['configure', 'read'], user: 'maria' });
    const nameless = await entered({ can: ['configure', 'read'] });
    for (const [browser, path] of [
      [named, 'b'],
      [nameless, 'c'],
    ] as const) {
      const bytes = WEBHOOK.replace('/a', `/${path}`);
      expect((await browser.send('POST', '/api/webhooks', { headers: JSON_TYPE, bytes })).status).toBe(200);
    }
    const { body } = await named.send('GET', '/api/history?limit=2');
    expect(body).toMatchObject({
      events: [
        { actor: `${clientId}/console`, type: 'WebhookAdded' },
        { actor: `${clientId}/maria`, type: 'WebhookAdded' },
      ],
    });
  });

  it('is listed with its user until it is ended, and then its cookie is refused', async () => {
    const session = await opened(client, { user: 'listed' });
    const browser = await Browser.in(api.url, session);
    const listed = async () => {
      const { body } = await client.send('GET', '/api/portal-sessions');
      return (body as unknown as { sessions: { id: string }[] }).sessions.find(({ id }) => id === session.id);
    };
    const { id, expiresAt } = session;
    expect(await listed()).toEqual({ id, user: 'listed', can: ['read'], openedAt: expect.any(String), expiresAt });
    expect((await client.send('DELETE', `/api/portal-sessions/${id}`)).status).toBe(200);
    expect(await listed()).toBeUndefined();
    expect((await browser.send('GET', '/console/session')).status).toBe(401);
    expect((await client.send('DELETE', `/api/portal-sessions/${id}`)).status).toBe(404);
  });

  it('is ended by its own browser, whose cookie is cleared', async () => {
    const browser = await entered();
    const { status, headers } = await browser.send('DELETE', '/console/session');
    expect({ status, cookie: headers.get('set-cookie') }).toEqual({
      status: 200,
      cookie: `console-${browser.sessionId}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict`,
    });
    for (const path of ['/console/session', '/api/webhooks'])
      expect((await browser.send('GET', path)).status).toBe(401);
  });

  it('ends with the credential that opened it, and only with that one', async () => {
    const other = await api.registration.issueCredential(42, CONTEXT);
    const { tokenFor, Client: Of } = await import('../../support/scenes/api-fixture.js');
    const by = new Of(api.url, { ...other, signingSecret: '' } as never, await tokenFor(api.url, other));
    const [its, ours] = [await entered({}, by), await entered()];
    expect((await its.send('GET', '/api/webhooks')).status).toBe(200);
    await api.registration.revokeCredential(other.clientId, CONTEXT);
    await eventually(async () => (await its.send('GET', '/api/webhooks')).status === 401);
    expect((await ours.send('GET', '/api/webhooks')).status).toBe(200);
  });

  it('of another account can be neither listed nor ended, nor does it reach its webhooks', async () => {
    const { id } = await opened(client);
    const other = await entered({ can: ALL }, stranger);
    for (const caller of [stranger, other]) {
      const gone = await caller.send('DELETE', `/api/portal-sessions/${id}`);
      expect(gone).toMatchObject({
        status: 404,
        body: { success: false, message: 'session not found', code: 'session-not-found' },
      });
      const { body } = await caller.send('GET', '/api/portal-sessions');
      const ids = (body as unknown as { sessions: { id: string }[] }).sessions.map((one) => one.id);
      expect(ids).not.toContain(id);
      expect((await caller.send('DELETE', '/api/portal-sessions/ps_0000000000000000')).body).toEqual(gone.body);
    }
    await client.post(WEBHOOK);
    const webhook = (await client.list()).webhooks[0]?.id;
    expect((await other.send('DELETE', `/api/webhooks/${webhook}`)).status).toBe(404);
  });
});

describe('a one-time code', () => {
  it('is used once', async () => {
    const session = await opened(client);
    expect((await entering(api.url, codeIn(session))).status).toBe(200);
    const { status, body } = await entering(api.url, codeIn(session));
    expect({ status, fields: body.errors?.map(({ field }) => field) }).toEqual({ status: 400, fields: ['code'] });
  });

  it('is used once over processes, however many come at the same time', async () => {
    const other = await api.beside();
    try {
      const code = codeIn(await opened(client));
      const all = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => entering((n % 2 ? other : api).url, code)));
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400, 400]);
    } finally {
      await other.close();
    }
  });

  it.each<[string, (code: string) => string]>([
    ['empty', () => ''],
    ['of another account', (code) => code.replace(/^42/, '43')],
    ['of another session', (code) => code.replace(/ps_[0-9a-f]{16}/, 'ps_0000000000000000')],
    ['of another secret', (code) => code.replace(/[\w-]{43}$/, 'A'.repeat(43))],
    ['with more', (code) => `${code}.`],
    ['of an account nobody registered', (code) => code.replace(/^42/, '9007199254740993')],
  ])('is refused if it is %s', async (_, changed) => {
    const { status, body } = await entering(api.url, changed(codeIn(await opened(client))));
    expect({ status, fields: body.errors?.map(({ field }) => field) }).toEqual({ status: 400, fields: ['code'] });
  });

  it('is no cookie, nor the cookie a code', async () => {
    const session = await opened(client);
    const code = codeIn(session);
    const withCode = new Browser(api.url, `console-${session.id}=${code}`);
    expect((await withCode.send('GET', '/console/session')).status).toBe(401);
    const { cookie } = await Browser.in(api.url, session);
    expect((await entering(api.url, cookie.split('=')[1] ?? '')).status).toBe(400);
    expect((await withCode.send('GET', '/console/session')).status).toBe(401);
  });
});

it('every process takes a session that another one opened, and refuses it once it has ended', async () => {
  const other = await api.beside();
  try {
    const session = await opened(client);
    const browser = await Browser.in(other.url, session);
    expect((await browser.at(api.url).send('GET', '/api/webhooks')).status).toBe(200);
    await client.send('DELETE', `/api/portal-sessions/${session.id}`);
    await eventually(async () => (await browser.send('GET', '/api/webhooks')).status === 401);
  } finally {
    await other.close();
  }
});

it('a session opens no other, whatever its rights: only a token does', async () => {
  const browser = await entered({ can: ALL });
  expect(await post(browser, { can: ['read'] })).toMatchObject({ status: 401, body: { success: false } });
});

describe('what opens a session is checked', () => {
  it.each<[string, object]>([
    ['can', { can: [] }],
    ['can', { can: 'read' }],
    ['can', { can: ['read', 'read'] }],
    ['can[1]', { can: ['read', 'everything'] }],
    ['user', { user: '' }],
    ['user', { user: 'a/b' }],
    ['user', { user: ' a' }],
    ['user', { user: 'a'.repeat(65) }],
    ['user', { user: 'a\u202eb' }],
    ['user', { user: 'a\nb' }],
    ['user', { user: 7 }],
    ['lifetime', { lifetime: '0s' }],
    ['lifetime', { lifetime: '61m' }],
    ['lifetime', { lifetime: '2h' }],
    ['lifetime', { lifetime: '1.5h' }],
    ['lifetime', { lifetime: 60 }],
    ['next', { next: 'deliveries' }],
    ['next', { next: '//evil.example' }],
    ['next', { next: '/\\evil.example' }],
    ['next', { next: '/\t/evil.example' }],
    ['next', { next: 'https://evil.example' }],
    ['next', { next: '' }],
    ['returnUrl', { returnUrl: 'http://portal.example.com' }],
    ['returnUrl', { returnUrl: 'javascript:alert(1)' }],
    ['returnUrl', { returnUrl: 'https://user:pw@portal.example.com' }],
    ['returnUrl', { returnUrl: 'https://' }],
  ])('%s: %j', async (field, body) => {
    const answer = await client.send('POST', '/api/portal-sessions', {
      headers: JSON_TYPE,
      bytes: JSON.stringify(body),
    });
    expect(answer).toMatchObject({ status: 400, body: { success: false, errors: [{ field }] } });
    expect(answer.body.message).toContain(field);
  });

  it.each([{ user: 'Zoë Ünal-Śmith' }, { user: '用户' }, { user: 'a@b.example' }, { next: '/' }, { lifetime: '1h' }])(
    'and %j is good',
    async (body) => {
      expect(await opened(client, body)).toMatchObject({ id: expect.any(String) });
    },
  );
});

describe('an account with 100 open sessions', () => {
  const ids = async (account: Client) => {
    const { body } = await account.send('GET', '/api/portal-sessions');
    return (body as unknown as { sessions: { id: string }[] }).sessions.map(({ id }) => id);
  };

  it('opens another: the one opened first of a user with more than five ends', async () => {
    const full = await api.account(44);
    const joao = await opened(full, { user: 'joao' });
    const maria = [];
    for (let count = 1; count < 100; count += 1) maria.push((await opened(full, { user: 'maria' })).id);
    const { id } = await opened(full, { user: 'ana' });
    expect(await ids(full)).toEqual([joao.id, ...maria.slice(1), id]);
  });

  it('opens none where each of its users has five; ending one makes room', async () => {
    const full = await api.account(45);
    for (let count = 0; count < 100; count += 1) await opened(full, { user: `user ${count % 20}` });
    await expect(opened(full)).rejects.toThrow('409');
    await full.send('DELETE', `/api/portal-sessions/${(await ids(full))[50]}`);
    expect(await opened(full)).toMatchObject({ id: expect.any(String) });
  });
});

describe('a cookie', () => {
  it('does nothing without the header x-console, so another site can make its browser do nothing', async () => {
    const browser = await entered({ can: ALL });
    const cross = { cookie: browser.cookie, origin: 'https://evil.example', ...JSON_TYPE };
    const asked: [string, string][] = [
      ['GET', '/api/webhooks'],
      ['GET', '/console/session'],
      ['POST', '/api/webhooks'],
      ['PATCH', '/api/webhooks/1'],
      ['DELETE', '/api/webhooks/1'],
      ['POST', '/api/webhooks/1/test'],
      ['POST', '/api/signing-secrets'],
      ['POST', '/api/portal-sessions'],
      ['DELETE', '/console/session'],
    ];
    for (const [method, path] of asked) {
      const body = ['GET', 'DELETE'].includes(method) ? {} : { body: WEBHOOK };
      const { status, headers } = await sent(api.url, method, path, { headers: cross, ...body });
      expect({ method, path, status }).toEqual({ method, path, status: 401 });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
    const preflight = await fetch(`${api.url}/api/webhooks`, { method: 'OPTIONS', headers: cross });
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect((await browser.send('GET', '/console/session')).status).toBe(200);
  });

  it.each(['Basic dXNlcjpwdw==', 'Negotiate YII=', '', 'BearerX y'])(
    'is taken beside an Authorization header that is not Bearer: %j',
    async (authorization) => {
      const browser = await entered({ can: ALL });
      for (const path of ['/console/session', '/api/webhooks', '/api/portal-sessions'])
        expect((await browser.send('GET', path, { headers: { authorization } })).status).toBe(200);
      expect((await browser.send('POST', '/api/signing-secrets', { headers: { authorization } })).status).toBe(201);
    },
  );

  it('is not taken beside a Bearer token, nor by the operations of publishers', async () => {
    const browser = await entered({ can: ALL });
    const beside = await browser.send('GET', '/api/webhooks', { headers: { authorization: 'Bearer x' } });
    expect(beside.status).toBe(401);
    const bytes = '{"id":"a","type":"cash_in","accountId":42}';
    expect((await browser.send('POST', '/api/payment-events', { headers: JSON_TYPE, bytes })).status).toBe(401);
  });

  it('is Secure and of this host alone where the service is not on loopback', async () => {
    const far = await startApi({ PUBLIC_URL: 'https://webhooks.example.com' });
    try {
      const account = await far.account(42);
      const session = await opened(account);
      expect(session.url).toMatch(/^https:\/\/webhooks[.]example[.]com\/console#code=/);
      const cookie = (await entering(far.url, codeIn(session))).headers.get('set-cookie') ?? '';
      expect(cookie).toMatch(/^__Host-console-ps_\w+=\S+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/);
      const browser = new Browser(far.url, cookie.split(';')[0] ?? '');
      expect((await browser.send('GET', '/console/session')).status).toBe(200);
      const plain = new Browser(far.url, browser.cookie.replace('__Host-', ''));
      expect((await plain.send('GET', '/console/session')).status).toBe(401);
    } finally {
      await far.close();
    }
  });
});
