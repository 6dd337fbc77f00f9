/** The console in an iframe of the portal of docs/console.md. */
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { documentedPortal, PASSWORD, type Portal } from '../support/documented-portal.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { installation, register, tokenFor } from '../support/story.js';
import { findBrowser, launch, openPage, startOutside, type WatchedPage } from './browser.js';

const executable = findBrowser();

jest.setTimeout(120_000);

if (executable) describe("the console in a portal's page", () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let portal: Portal;
  let service: ServiceHere;
  let remove: () => Promise<void>;
  let opened: WatchedPage;

  beforeAll(async () => {
    browser = await launch(executablePath);
    portal = await documentedPortal();
    const installed = await installation([]);
    ({ remove } = installed);
    const allowed = [portal.url, onLocalhost(portal.url)].join();
    service = await serveHere({ ...installed.settings, CONSOLE_FRAME_ANCESTORS: allowed });
    await portal.start(service.url, await register(installed.settings, 42));
  });
  afterEach(() => opened.context.close());
  afterAll(async () => {
    await browser.close();
    await portal.stop();
    await service.stop();
    await remove();
  });

  const onLocalhost = (url: string) => url.replace('127.0.0.1', 'localhost');

  async function open(url: string): Promise<Page> {
    opened = await openPage(browser, { httpCredentials: { username: 'maria', password: PASSWORD } });
    await opened.page.goto(url);
    return opened.page;
  }

  const consoleIn = (page: Page) => page.frameLocator('iframe');

  it('opens a session of the user that signed in', async () => {
    const page = await open(portal.url);
    await consoleIn(page).getByRole('heading', { name: 'Overview' }).waitFor();
    await consoleIn(page).getByText('maria').waitFor();
    await consoleIn(page).getByRole('link', { name: 'Deliveries' }).first().click();
    await consoleIn(page).getByRole('heading', { name: 'Deliveries', exact: true }).waitFor();
    expect(opened.wrongs).toEqual([]);
  });

  it('opens by a redirect too', async () => {
    const page = await open(`${portal.url}/open`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${service.url}/console`);
  });

  it('works behind a proxy that removes a path', async () => {
    const proxy = await startProxy();
    const { settings, remove: removeFiles } = await installation([]);
    const behind = await serveHere({ ...settings, PUBLIC_URL: `${proxy.url}/hooks` });
    proxy.target = behind.url;
    const token = await tokenFor(`${proxy.url}/hooks`, await register(settings, 42));
    const session = await fetch(`${proxy.url}/hooks/api/portal-sessions`, {
      ...{
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      },
    });
    opened = await openPage(browser);
    await opened.page.goto(((await session.json()) as { url: string }).url);
    await opened.page.getByRole('link', { name: 'Deliveries' }).first().click();
    await opened.page.getByText('No deliveries yet').waitFor();
    expect(opened.page.url()).toBe(`${proxy.url}/hooks/console/deliveries`);
    expect(opened.wrongs).toEqual([]);
    await opened.context.close();
    await proxy.close();
    await behind.stop();
    await removeFiles();
  });

  it('says that no session began where the portal is of another site', async () => {
    const page = await open(onLocalhost(portal.url));
    await consoleIn(page).getByText('Your browser kept no session').waitFor();
  });

  it('is not shown in a page of an origin that is not allowed', async () => {
    opened = await openPage(browser);
    const outside = await startOutside();
    await outside.frameRefused(opened.page, `${service.url}/console`);
    await outside.close();
  });
}

/** Forwards /hooks/... to its target, without /hooks. */
async function startProxy() {
  const proxy = { target: '', url: '', close: async () => {} };
  const server = createServer((from, to) => {
    const { url = '', method, headers } = from;
    const forwarded = request(proxy.target + url.slice('/hooks'.length), { method, headers }, (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    from.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return proxy;
}
