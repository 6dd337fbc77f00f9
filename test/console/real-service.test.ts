/** The way of one failed payment on the service itself, which serves the page and answers it. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';
import { findBrowser, launch, openPage } from './browser.js';

const executable = findBrowser();

jest.setTimeout(120_000);

if (executable) describe('a failed payment of the service itself', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  const ANSWER = 'the ledger is closed';
  let browser: Browser;
  let receiver: Receiver;
  let settings: Settings;
  let remove: () => Promise<void>;
  let service: ServiceHere;
  let isUp = false;

  beforeAll(async () => {
    browser = await launch(executablePath);
    receiver = await startReceiver({ respond: () => (isUp ? { status: 200 } : { status: 500, body: ANSWER }) });
    const installed = await installation([receiver]);
    ({ remove } = installed);
    settings = { ...installed.settings, RETRY_SCHEDULE: '200ms,1h' };
    service = await serveHere(settings);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await receiver.close();
    await remove();
  });

  async function link(): Promise<string> {
    const token = await tokenFor(service.url, await register(settings, 42));
    await addWebhook(service.url, token, { url: `${receiver.url}/payments`, eventType: 'cash_in' });
    const opened = await fetch(`${service.url}/api/portal-sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ can: ['read', 'payloads', 'resend', 'configure'], user: 'maria' }),
    });
    return ((await opened.json()) as { url: string }).url;
  }

  it('is found with the answer of its receiver, resent, and seen to arrive', async () => {
    const url = await link();
    await commandLine(settings, ['events', 'publish'], paymentEvents(42, 1));
    const { page, context, wrongs } = await openPage(browser);
    await page.goto(url);
    await page.getByRole('link', { name: 'Deliveries' }).first().click();
    await page.getByRole('link', { name: 'Cash in' }).first().click();
    await page.getByText(ANSWER).filter({ visible: true }).first().waitFor();
    isUp = true;
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByText('resent by maria').waitFor();
    await page.getByText(/Accepted by the receiver after \d attempts/).waitFor();
    await context.close();
    expect(wrongs).toEqual([]);
  });
}
