/** What a page of another origin, a used link, another account and a session that only reads come to, on the service itself. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { Client } from '../support/api-fixture.js';
import { fetchDocument } from '../support/documented.js';
import { eventually } from '../support/eventually.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { codeIn, opened as openedSession } from '../support/portal-session.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { type Account, installation, paymentEvents, publishEvents, register, tokenFor } from '../support/story.js';
import { findBrowser, launch, type Outside, openPage, startOutside, type WatchedPage } from './browser.js';

const executable = findBrowser();

jest.setTimeout(120_000);

const RIGHTS = ['read', 'payloads', 'resend', 'configure', 'secrets'];
/** All that a change of the account shows in. */
const STATE = [
  '/api/webhooks',
  '/api/history',
  '/api/deliveries',
  '/api/portal-sessions',
  '/api/signing-secrets',
].concat(...['/api/notices', '/api/recoveries']);

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
    const headers = { 'content-type': 'application/json', 'x-console': '1' };
    await fetch(url, { ...init, headers }).then(note(method + ' ' + url), () => {});
    if (method !== 'POST') continue;
    await fetch(url, { ...init, mode: 'no-cors' });
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded']) await submitted({ url, body, enctype });
  }
  return readable;
}`;
const AS_THE_CONSOLE = `async (changes) => {
  const statuses = [];
  const headers = { 'content-type': 'application/json', 'x-console': '1' };
  for (const { method, url, body } of changes) statuses.push((await fetch(url, { method, body, headers })).status);
  return statuses;
}`;

const ACTIONS = /Resend|Cancel|Recover|Activate|curl/;

const inPage = <T>(page: Page, script: string, changes: readonly Change[]): Promise<T> =>
  page.evaluate<T>(`(${script})(${JSON.stringify(changes)})`);

if (executable) describe('the console', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let receiver: Receiver;
  let remove: () => Promise<void>;
  let service: ServiceHere;
  let opened: WatchedPage;
  let outside: Outside;
  let account: Client<Account>;
  const delivery = { own: '', ofOther: '' };
  let webhookId = 0;

  beforeAll(async () => {
    browser = await launch(executablePath);
    outside = await startOutside();
    receiver = await startReceiver({ respond: () => ({ status: 500 }) });
    const installed = await installation([receiver]);
    ({ remove } = installed);
    const settings = { ...installed.settings, RETRY_SCHEDULE: '1h' };
    service = await serveHere(settings);
    const withFailure = async (accountId: number) => {
      const credential = await register(settings, accountId);
      const client = new Client(service.url, credential, await tokenFor(service.url, credential));
      await client.post({ url: `${receiver.url}/payments`, eventType: 'cash_in' });
      await publishEvents(settings, paymentEvents(accountId, 1));
      const id = await eventually(async () => {
        const { body } = await client.send('GET', '/api/deliveries');
        const [first] = (body as unknown as { deliveries: { id: string; attempts: object[] }[] }).deliveries;
        return first?.attempts.length && first.id;
      });
      return { client, id };
    };
    const [own, other] = [await withFailure(42), await withFailure(43)];
    account = own.client;
    Object.assign(delivery, { own: own.id, ofOther: other.id });
    webhookId = (await account.list()).webhooks[0]?.id ?? 0;
  });
  afterAll(async () => {
    await browser.close();
    await outside.close();
    await service.stop();
    await receiver.close();
    await remove();
  });
  beforeEach(async () => {
    opened = await openPage(browser);
  });
  afterEach(() => opened.context.close());

  async function enter(page: Page, can: readonly string[] = RIGHTS, next = '/console'): Promise<void> {
    const { url } = await openedSession(account, { can, user: 'maria', next });
    await page.goto(url);
    await page.getByText('maria').waitFor();
  }

  /** Every change that a session may make, with a body that is taken. */
  async function changes(deliveryId: string): Promise<Change[]> {
    const bodies: Readonly<Record<string, object>> = {
      registerWebhook: { url: `${receiver.url}/hostile`, eventType: 'cash_out' },
      setWebhookActive: { isActive: false },
      startRecovery: { since: '2026-01-01T00:00:00.000Z' },
      setNotices: { url: `${receiver.url}/hostile` },
      openSession: { can: RIGHTS },
    };
    const { paths } = await fetchDocument(service.url);
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method, { security }]) => method !== 'get' && security.some((scheme) => 'session' in scheme))
        .map(([method, { operationId }]) => {
          const id = path.startsWith('/api/webhooks') ? String(webhookId) : deliveryId;
          const body = bodies[operationId];
          const url = service.url + path.replace('{id}', id);
          return { method: method.toUpperCase(), url, body: body ? JSON.stringify(body) : null };
        }),
    );
  }

  const state = () => Promise.all(STATE.map(async (path) => (await account.send('GET', path)).body));

  // Cookies know no port: to the browser another port is the same site.
  it.each([
    ['the same site, which sends the cookie', '127.0.0.1', 403],
    ['another site, which sends none', 'localhost', 401],
  ])('is changed by no form and no script of %s', async (_site, host, status) => {
    const { page } = opened;
    await enter(page);
    const before = await state();
    await page.goto(outside.at(host));
    const statuses: number[] = [];
    page.on('response', (answer) => {
      if (answer.url().startsWith(service.url) && answer.request().method() !== 'OPTIONS')
        statuses.push(answer.status());
    });
    const all = await changes(delivery.own);
    const reads = STATE.map((path) => ({ method: 'GET', url: service.url + path, body: null }));
    expect(await inPage(page, ATTACK, [...all, ...reads])).toEqual([]);
    const posts = all.filter(({ method }) => method === 'POST');
    await eventually(() => statuses.filter((one) => one === status).length >= 3 * posts.length, {
      message: `not each post was answered ${status}`,
    });
    expect(await state()).toEqual(before);
  });

  it('keeps its session when another origin posts the link of another one', async () => {
    const { page } = opened;
    await enter(page);
    const code = codeIn(await openedSession(account, { user: 'mallory' }));
    const url = `${service.url}/console/session`;
    await page.goto(outside.at('127.0.0.1'));
    await inPage(page, ATTACK, [{ method: 'POST', url, body: JSON.stringify({ code }) }]);
    await page.goto(`${service.url}/console`);
    await page.getByText('maria').waitFor();
  });

  it('is shown in no frame', async () => {
    const { page } = opened;
    await enter(page);
    await outside.frameRefused(page, `${service.url}/console`);
  });

  it('takes a link once, and keeps the session that it opened', async () => {
    const { page } = opened;
    const { url } = await openedSession(account, { user: 'maria' });
    await page.goto(url);
    await page.getByText('maria').waitFor();
    const other = await openPage(browser);
    await other.page.goto(url);
    await other.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await other.context.close();
    await page.reload();
    await page.getByText('maria').waitFor();
  });

  it("knows no delivery of another account's", async () => {
    const { page } = opened;
    await enter(page, RIGHTS, `/deliveries/${delivery.ofOther}`);
    await page.getByRole('heading', { name: 'No such delivery' }).waitFor();
    const ofDeliveries = (await changes(delivery.ofOther)).filter(({ url }) => url.includes('/api/deliveries/'));
    expect(await inPage(page, AS_THE_CONSOLE, ofDeliveries)).toEqual(ofDeliveries.map(() => 404));
    await page.goto(`${service.url}/console/deliveries/${delivery.own}`);
    await page.getByRole('heading', { name: 'Cash in' }).waitFor();
  });

  it('of a session that only reads has no actions, and changes nothing', async () => {
    const { page } = opened;
    const screens = ['', '/deliveries', `/deliveries/${delivery.own}`];
    const actions = async (can: readonly string[]) => {
      await enter(page, can);
      const found = [];
      for (const path of screens) {
        await page.goto(`${service.url}/console${path}`);
        await page.getByText(/^Up to date$/).waitFor();
        await page.locator('main .url, main .step').first().waitFor();
        found.push(await page.locator('main').getByRole('button', { name: ACTIONS }).count());
      }
      return found;
    };
    expect(await actions(['read'])).toEqual([0, 0, 0]);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    const before = await state();
    // It may end itself.
    const ofOthers = (await changes(delivery.own)).filter(({ url }) => !url.endsWith('/console/session'));
    expect(await inPage(page, AS_THE_CONSOLE, ofOthers)).toEqual(ofOthers.map(() => 403));
    expect(await state()).toEqual(before);
    expect((await actions(RIGHTS)).map((count) => count > 0)).toEqual([true, false, true]);
  });
}
