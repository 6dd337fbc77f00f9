/** Several sessions in one browser: each page is the one that it names. */
import { type Answer, type Client, request } from '../../support/clients/api-client.js';
import { Browser, codeIn, type Opened, opened } from '../../support/clients/portal-session.js';
import { type RunningApi, startApi } from '../../support/scenes/api-fixture.js';

let api: RunningApi;
let one: Client;
let other: Client;

beforeAll(async () => {
  api = await startApi();
  one = await api.account(42);
  other = await api.account(43);
});

afterAll(() => api.close());

/** The cookies of a host, as a browser keeps and sends them: by name, oldest first. */
class Jar {
  readonly #cookies = new Map<string, string>();

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get sessions(): string[] {
    return [...this.#cookies.keys()].map((name) => name.replace('console-', ''));
  }

  /** POST /console/session, as the page of a link does. */
  async enter(session: Pick<Opened, 'url'>): Promise<Answer> {
    const headers = this.cookie === '' ? {} : { cookie: this.cookie };
    const json = { code: codeIn(session) };
    const answer = await request(new URL(session.url).origin, 'POST', '/console/session', { headers, json });
    expect(answer.status).toBe(200);
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value) this.#cookies.set(name, value);
      else this.#cookies.delete(name);
    }
    return answer;
  }

  page({ id, url }: Opened): Browser {
    return new Browser(new URL(url).origin, this.cookie, id);
  }
}

const shows = async (page: Browser) => {
  const { status, body } = await page.send('GET', '/console/session');
  return status === 200 ? body : status;
};

/** Both entered in one browser, in this order. */
async function two(first: Opened, second: Opened): Promise<[Browser, Browser]> {
  const jar = new Jar();
  await jar.enter(first);
  await jar.enter(second);
  return [jar.page(first), jar.page(second)];
}

describe('two pages of one browser', () => {
  it('of two accounts each read and change their own', async () => {
    const can = { can: ['read', 'secrets'], user: 'maria' };
    const [a, b] = await two(await opened(one, can), await opened(other, can));
    expect((await a.send('POST', '/api/signing-secrets')).status).toBe(201);
    const secrets = async (page: Browser) => (await page.send('GET', '/api/signing-secrets')).body;
    expect(await secrets(a)).toMatchObject({ secrets: [{}, {}] });
    expect(await secrets(b)).toMatchObject({ secrets: [{}] });
  });

  it.each([
    ['of two users go on side by side', { user: 'joao' }, { user: 'maria' }],
    ['of the same account, user and rights are one session: the former one ends', { user: 'maria' }, 401],
  ])('%s', async (_, user, first) => {
    const [a, b] = await two(await opened(one, { user: 'maria' }), await opened(one, user));
    expect([await shows(a), await shows(b)]).toMatchObject([first, user]);
  });

  it('name one that has ended: none of the others acts for it', async () => {
    const [a, b] = await two(await opened(one, { user: 'a' }), await opened(other, { user: 'b' }));
    await a.send('DELETE', '/console/session');
    for (const path of ['/console/session', '/api/webhooks']) expect((await a.send('GET', path)).status).toBe(401);
    expect(await shows(b)).toMatchObject({ account: 43 });
  });
});

it('a cookie under the name of another session does not act for it', async () => {
  const [a, b] = await two(await opened(one, { user: 'a' }), await opened(other, { user: 'b' }));
  const [, value] = b.cookie.split(`console-${b.sessionId}=`);
  expect(await shows(new Browser(api.url, `console-${a.sessionId}=${value}`))).toBe(401);
});

it.each(['console=42.ps_0123456789abcdef.x', 'console-ps_0123456789abcdef=stale', 'session=; x', '__Host-console=y'])(
  'a foreign cookie beside it changes nothing: %s',
  async (foreign) => {
    const page = await Browser.in(api.url, await opened(one, { user: 'maria' }));
    for (const cookie of [`${foreign}; ${page.cookie}`, `${page.cookie}; ${foreign}`])
      expect(await shows(new Browser(api.url, cookie, page.sessionId))).toMatchObject({ user: 'maria' });
  },
);

it('a page that is loaded again and again leaves one cookie, and the other pages of its browser alone', async () => {
  const jar = new Jar();
  const stays = await opened(other, { user: 'maria' });
  await jar.enter(stays);
  for (let count = 0; count < 5; count += 1) await jar.enter(await opened(one, { user: 'embedded' }));
  expect(jar.sessions).toHaveLength(2);
  expect(await shows(jar.page(stays))).toMatchObject({ account: 43 });
});

it('two installations on one host do not disturb each other, with the same account in both', async () => {
  const far = await startApi();
  try {
    const [here, there] = [await opened(one), await opened(await far.account(42))];
    const [a, b] = await two(here, there);
    expect([await shows(a), await shows(b)]).toMatchObject([{ id: here.id }, { id: there.id }]);
    await b.send('DELETE', '/console/session');
    expect(await shows(a)).toMatchObject({ id: here.id });
  } finally {
    await far.close();
  }
});
