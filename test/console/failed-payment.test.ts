/** The way of one failed payment, in a browser: what its people do until it has arrived. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { findBrowser, launch, openPage, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';
import { GIVEN_UP } from './screens.js';

const executable = findBrowser();
/** Waits for its third attempt. */
const WAITING = 'msg_3';

if (executable) describe('a failed payment', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let mock: MockApi;
  let opened: WatchedPage;

  beforeAll(async () => {
    browser = await launch(executablePath);
  });
  afterAll(() => browser.close());

  beforeEach(async () => {
    mock = await startMockApi(100_000);
    opened = await openPage(browser);
  });
  afterEach(async () => {
    await opened.context.close();
    await mock.close();
    expect(opened.wrongs).toEqual([]);
  });

  it('is found from the Overview, resent, and seen to arrive', async () => {
    const { page } = opened;
    await page.goto(mock.link());
    await page.getByRole('link', { name: /^Given up/ }).click();
    await page.getByRole('link', { name: 'Cash out' }).first().click();
    await page.getByText('Given up after 4 attempts').waitFor();
    await page.getByText('database is in maintenance').last().waitFor();
    await page.getByText('1250.10').waitFor();
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByText('resent by maria').waitFor();
    await page.getByText('Accepted by the receiver after 5 attempts.').waitFor();
  });

  it('had arrived before, is resent by mistake, and the resend that waits is cancelled', async () => {
    const { page } = opened;
    let sentAgain = false;
    await page.route('**/api/deliveries/msg_0', async (route) => {
      const response = await route.fetch();
      const { delivery } = (await response.json()) as { delivery: object };
      await route.fulfill({ response, json: { delivery: { ...delivery, sentAgain } } });
    });
    for (const [call, waits] of [
      ['resend', true],
      ['cancel', false],
    ] as const)
      await page.route(`**/msg_0/${call}`, async (route) => {
        sentAgain = waits;
        await route.fulfill({ status: 202, json: { success: true, message: call } });
      });
    await page.goto(mock.link('/console/deliveries/msg_0'));
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('dialog').getByText('The delivery is again what it was before.').waitFor();
    await page.getByRole('button', { name: 'Cancel attempt' }).click();
    await page.getByText('The attempt is cancelled.').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).waitFor({ state: 'detached' });
    expect(await page.getByText('Sending again…').count()).toBe(0);
  });

  it('is resent with others that are selected, once their count was confirmed', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/deliveries?outcome=exhausted'));
    await page
      .getByRole('checkbox', { name: /^Select pay_/ })
      .nth(0)
      .check();
    await page
      .getByRole('checkbox', { name: /^Select pay_/ })
      .nth(1)
      .check();
    await page.getByRole('button', { name: 'Resend 2' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resend 2 deliveries?' });
    await dialog.getByRole('button', { name: 'Resend 2' }).click();
    await page.getByText('2 deliveries are on their way.').waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it('is cancelled only after a question', async () => {
    const { page } = opened;
    await page.goto(mock.link(`/console/deliveries/${WAITING}`));
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('button', { name: 'Keep waiting' }).click();
    await page.getByText('Attempt 3 follows').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('button', { name: 'Cancel delivery' }).click();
    await page.getByText('Cancelled by the account').waitFor();
  });

  for (const end of ['Keep waiting', 'Close', 'Escape']) {
    it(`leads back to the button that opened a dialog, by ${end} on the keyboard`, async () => {
      const { page } = opened;
      await page.goto(mock.link(`/console/deliveries/${WAITING}`));
      const opener = page.getByRole('button', { name: 'Cancel…' });
      await opener.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'Cancel this delivery?' });
      await dialog.waitFor();
      if (end === 'Escape') await page.keyboard.press(end);
      else await dialog.getByRole('button', { name: end, exact: true }).press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(await page.locator(':focus').textContent()).toBe('Cancel…');
    });
  }

  it('is recovered with the others of its URL: counted before, stopped on the way', async () => {
    const { page } = opened;
    await page.goto(mock.link());
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Recover deliveries' });
    await dialog.getByText(/^Sends 3,612 deliveries at 20 per second, about 3 min/).waitFor();
    await dialog.getByRole('checkbox', { name: /^Waiting/ }).uncheck();
    await dialog.getByRole('button', { name: 'Send 2,408' }).click();
    await dialog.getByText('640 of 2,408').waitFor();
    await page.reload();
    await page.getByRole('list', { name: 'Recoveries' }).getByText('640 of 2,408').waitFor();
    await page.getByRole('button', { name: 'See progress' }).click();
    await dialog.getByText('640 of 2,408').waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText('Stopped', { exact: true }).waitFor();
  });

  it('that is held stands apart from those that were given up', async () => {
    const { page } = opened;
    await page.goto(mock.link());
    await page.getByRole('link', { name: /^Held/ }).click();
    await page.waitForURL('**/console/deliveries?outcome=held');
    const badges = page.locator('td.outcome .badge');
    await badges.first().waitFor();
    expect(new Set(await badges.allTextContents())).toEqual(new Set(['Held']));
    await page.getByRole('link', { name: 'Given up' }).click();
    await badges.filter({ hasText: 'Given up' }).first().waitFor();
    expect(await badges.filter({ hasText: 'Held' }).count()).toBe(0);
    await page.goBack();
    await page.locator('td.event a').first().click();
    await page.getByText('The service had switched this URL off.').waitFor();
  });

  it('is found by its event id, which stands in the address', async () => {
    const { page } = opened;
    await page.goto(mock.link('/console/deliveries'));
    const eventId = (await page.locator('td.event code').first().textContent()) ?? '';
    await page.getByRole('searchbox', { name: 'Find by event id' }).fill(eventId);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/console/deliveries?eventId=${eventId}`);
    await page.reload();
    await page.getByText('That is the only one.').waitFor();
    expect(await page.locator('td.event code').allTextContents()).toEqual([eventId]);
  });

  describe('sign-in', () => {
    it('takes a code once, and leaves none in the address', async () => {
      const { page } = opened;
      const link = mock.link();
      await page.goto(link);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(page.url()).toBe(`${mock.url}/console`);
      const other = await openPage(browser);
      await other.page.goto(link);
      await other.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
      await other.context.close();
    });

    it('is asked for without a session', async () => {
      await opened.page.goto(`${mock.url}/console/deliveries/${GIVEN_UP}`);
      await opened.page.getByRole('heading', { name: /^Open the console from/ }).waitFor();
    });
  });

  it('of a session that may only read has no actions, and says why its payload is hidden', async () => {
    const readOnly = await startMockApi(100, ['read']);
    const { page } = opened;
    await page.goto(readOnly.link(`/console/deliveries/${GIVEN_UP}`));
    await page.getByText('This session may not resend or cancel').waitFor();
    await page.getByText('Payloads and answers are hidden').first().waitFor();
    expect(await page.getByRole('button', { name: /Resend|Cancel|curl/ }).count()).toBe(0);
    await readOnly.close();
  });

  it('stays on the page with its time while the API fails, and moves on when it is back', async () => {
    const { page } = opened;
    await page.goto(mock.link(`/console/deliveries/${WAITING}`));
    await page.getByText('Attempt 3 follows').waitFor();
    mock.fault = { status: 503 };
    await page.getByText(/The service answers 503. Shown as of/).waitFor();
    expect(await page.getByText('Attempt 3 follows').count()).toBe(1);
    mock.fault = null;
    await page.getByText('Up to date').waitFor();
  });
}
