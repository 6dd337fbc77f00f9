/** The console in an iframe of the portal of docs/console.md. */
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { documentedPortal, PASSWORD, type Portal } from '../support/documented-portal.js';
import { eventually } from '../support/eventually.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { installation, register } from '../support/story.js';
import { findBrowser, launch, openPage, type WatchedPage } from './browser.js';

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

  it('says that no session began where the portal is of another site', async () => {
    const page = await open(onLocalhost(portal.url));
    await consoleIn(page).getByText('Your browser kept no session').waitFor();
  });

  it('is not shown in a page of an origin that is not allowed', async () => {
    opened = await openPage(browser);
    const { page } = opened;
    await page.route('http://127.0.0.1:7777/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${service.url}/console"></iframe>` }),
    );
    await page.goto('http://127.0.0.1:7777/');
    const isRefused = () => page.frames().some((frame) => frame.url() === 'chrome-error://chromewebdata/');
    await eventually(isRefused, { message: 'the frame was not refused' });
    expect(await consoleIn(page).locator('#console').count()).toBe(0);
  });
}
