/** The console in an iframe of the portal of docs/console.md. */
import type { Page } from 'playwright-core';
import { Client } from '../support/clients/api-client.js';
import { documentedPortal, PASSWORD, type Portal } from '../support/clients/documented-portal.js';
import { type ServiceHere, serveHere } from '../support/clients/in-process-service.js';
import { opened } from '../support/clients/portal-session.js';
import { type Account, installation, register, tokenFor } from '../support/scenes/story.js';
import { describeInBrowser, type Opening, startOutside } from './browser.js';
import { startProxy } from './proxy.js';

/** Chromium says as an error that it refuses a frame or its cookie. */
const REFUSED = { isWatched: false };

describeInBrowser("the console in a portal's page", (open) => {
  let portal: Portal;
  let service: ServiceHere;
  let remove: () => Promise<void>;
  let account: Account;

  beforeAll(async () => {
    portal = await documentedPortal();
    const installed = await installation([]);
    ({ remove } = installed);
    const allowed = [portal.url, onLocalhost(portal.url)].join();
    service = await serveHere({ ...installed.settings, CONSOLE_FRAME_ANCESTORS: allowed });
    account = await register(installed.settings, 42);
    await portal.start(service.url, account);
  });
  afterAll(async () => {
    await portal.stop();
    await service.stop();
    await remove();
  });

  const onLocalhost = (url: string) => url.replace('127.0.0.1', 'localhost');

  async function signIn(url: string, opening: Opening = {}): Promise<Page> {
    const page = await open({ ...opening, httpCredentials: { username: 'maria', password: PASSWORD } });
    await page.goto(url);
    return page;
  }

  const consoleIn = (page: Page) => page.frameLocator('iframe');

  it('opens a session of the user that signed in', async () => {
    const page = await signIn(portal.url);
    await consoleIn(page).getByRole('heading', { name: 'Overview' }).waitFor();
    await consoleIn(page).getByText('maria').waitFor();
    await consoleIn(page).getByRole('link', { name: 'Payments' }).first().click();
    await consoleIn(page).getByRole('heading', { name: 'Payments', exact: true }).waitFor();
  });

  it('copies what it shows', async () => {
    const page = await signIn(portal.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await consoleIn(page).getByRole('link', { name: 'Payments' }).first().click();
    await consoleIn(page).getByRole('button', { name: 'Copy link' }).click();
    await consoleIn(page).getByText('Copied').waitFor();
  });

  it('opens by a redirect too', async () => {
    const page = await signIn(`${portal.url}/open`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${service.url}/console`);
  });

  it('opens behind a proxy that removes a path', async () => {
    const proxy = await startProxy('/hooks');
    const { settings, remove: removeFiles } = await installation([]);
    const behind = await serveHere({ ...settings, PUBLIC_URL: proxy.url });
    proxy.target = behind.url;
    const credential = await register(settings, 42);
    const client = new Client(proxy.url, credential, await tokenFor(proxy.url, credential));
    const page = await open();
    await page.goto((await opened(client)).url);
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByText('Nothing was published yet').waitFor();
    expect(page.url()).toBe(`${proxy.url}/console/payments`);
    await page.close();
    await proxy.close();
    await behind.stop();
    await removeFiles();
  });

  it('says that no session began where the portal is of another site', async () => {
    const page = await signIn(onLocalhost(portal.url), REFUSED);
    await consoleIn(page).getByText('Your browser kept no session').waitFor();
  });

  it('is not shown in a page of an origin that is not allowed', async () => {
    const page = await open(REFUSED);
    const outside = await startOutside();
    await outside.frameRefused(page, `${service.url}/console`);
    await outside.close();
  });
});
