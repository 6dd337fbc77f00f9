/** What a page of another origin comes to, on the service itself. Rights and other accounts are the API's own tests'. */
import type { Page } from 'playwright-core';
import type { Client } from '../support/clients/api-client.js';
import { fetchDocument } from '../support/clients/documented.js';
import { codeIn, opened } from '../support/clients/portal-session.js';
import { eventually } from '../support/clocks/eventually.js';
import { type Account, paymentEvents } from '../support/scenes/story.js';
import { describeInBrowser, type Outside, startOutside } from './browser.js';
import { RIGHTS, served } from './served.js';

/** All that a change of the account shows in. */
const STATE = [
  '/api/webhooks',
  '/api/history',
  '/api/deliveries',
  '/api/portal-sessions',
  '/api/signing-secrets',
  '/api/credentials',
  '/api/notices',
  '/api/recoveries',
];

interface Change {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

/** Run in a page. Each change by fetch as the console's own, and as what needs no preflight: by fetch and by form. */
const ATTACK = `async (changes) => {
  const readable = [];
  const note = (what) => (answer) => readable.push(what);
  const submitted = ({ url, body, enctype }) => new Promise((resolve) => {
    const frame = document.body.appendChild(Object.assign(document.createElement('iframe'), { name: 'frame' + Math.random() }));
    const form = Object.assign(document.createElement('form'), { action: url, method: 'post', enctype, target: frame.name });
    const half = (body ?? '').length - 1;
    const value = (body ?? '').slice(half);
    form.append(Object.assign(document.createElement('input'), { name: (body ?? '').slice(0, half), value }));
    document.body.append(form);
    frame.onload = resolve;
    form.submit();
  });
  for (const { method, url, body } of changes) {
    const init = { method, body, credentials: 'include' };
    const headers = { 'content-type': 'application/json', 'x-console': 'ps_0123456789abcdef' };
    await fetch(url, { ...init, headers }).then(note(method + ' ' + url), () => {});
    if (method !== 'POST') continue;
    await fetch(url, { ...init, mode: 'no-cors' });
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded']) await submitted({ url, body, enctype });
  }
  return readable;
}`;

const inPage = <T>(page: Page, script: string, changes: readonly Change[]): Promise<T> =>
  page.evaluate<T>(`(${script})(${JSON.stringify(changes)})`);

describeInBrowser('the console', (open) => {
  const here = served(open, { RETRY_SCHEDULE: '1h' });
  const { enter } = here;
  /** What a page of another origin does wrong is the attack. */
  const ATTACKED = { isWatched: false };
  let outside: Outside;
  let account: Client<Account>;
  const ids = { delivery: '', webhook: '' };

  beforeAll(async () => {
    outside = await startOutside();
    here.replies.set('/payments', { status: 500 });
    account = await here.account();
    await account.post({ url: `${here.receiver.url}/payments`, eventType: 'cash_in' });
    await here.publish(paymentEvents(account.credential.accountId, 1));
    ids.webhook = String((await account.list()).webhooks[0]?.id);
    ids.delivery = await eventually(async () => {
      const { body } = await account.send('GET', '/api/deliveries');
      const [first] = (body as unknown as { deliveries: { id: string; attempts: object[] }[] }).deliveries;
      return first?.attempts.length ? first.id : null;
    });
  });
  afterAll(() => outside.close());

  /** Every change that a session may make, with a body that is taken. */
  async function changes(): Promise<Change[]> {
    const bodies: Readonly<Record<string, object>> = {
      registerWebhook: { url: `${here.receiver.url}/hostile`, eventType: 'cash_out' },
      updateWebhook: { isActive: false },
      startRecovery: { since: '2026-01-01T00:00:00.000Z' },
      startRecoveryOfSeveral: { webhookIds: [Number(ids.webhook)], since: '2026-01-01T00:00:00.000Z' },
      setNotices: { url: `${here.receiver.url}/hostile` },
      openSession: { can: RIGHTS },
    };
    const { paths } = await fetchDocument(here.service.url);
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method, { security }]) => method !== 'get' && security.some((scheme) => 'session' in scheme))
        .map(([method, { operationId }]) => {
          const id = path.startsWith('/api/webhooks') ? ids.webhook : ids.delivery;
          const body = bodies[operationId];
          const url = here.service.url + path.replace('{id}', id);
          return { method: method.toUpperCase(), url, body: body ? JSON.stringify(body) : null };
        }),
    );
  }

  const state = () => Promise.all(STATE.map(async (path) => (await account.send('GET', path)).body));

  // Cookies know no port: to the browser another port is the same site.
  it.each([
    ['the same site, which sends the cookie', '127.0.0.1'],
    ['another site, which sends none', 'localhost'],
  ])('is changed by no form and no script of %s', async (_site, host) => {
    const page = await enter(account, ATTACKED);
    const before = await state();
    await page.goto(outside.at(host));
    const statuses: number[] = [];
    page.on('response', (answer) => {
      if (answer.url().startsWith(here.service.url) && answer.request().method() !== 'OPTIONS')
        statuses.push(answer.status());
    });
    const all = await changes();
    const reads = STATE.map((path) => ({ method: 'GET', url: here.service.url + path, body: null }));
    expect(await inPage(page, ATTACK, [...all, ...reads])).toEqual([]);
    const posts = all.filter(({ method }) => method === 'POST');
    await eventually(() => statuses.filter((one) => one === 401).length >= 3 * posts.length, {
      message: 'not each post was answered 401',
    });
    expect(await state()).toEqual(before);
  });

  it('keeps its session when another origin posts the link of another one', async () => {
    const page = await enter(account, ATTACKED);
    const code = codeIn(await opened(account, { user: 'mallory' }));
    const url = `${here.service.url}/console/session`;
    await page.goto(outside.at('127.0.0.1'));
    await inPage(page, ATTACK, [{ method: 'POST', url, body: JSON.stringify({ code }) }]);
    await page.goto(`${here.service.url}/console`);
    await page.getByText('maria').waitFor();
  });
});
