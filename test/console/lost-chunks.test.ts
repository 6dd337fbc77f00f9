/** Parts of the page that cannot be loaded: the service was upgraded since the page was opened, or the network is gone. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const LOST = 'This part of the page could not be loaded';

describeOnMock('a chunk that is gone', (show) => {
  const lose = (page: Page, chunk: string) =>
    page.route(`**/assets/${chunk}-*.js`, (route) => route.fulfill({ status: 404 }));
  const refused = (chunk: string) => ({ refused: new RegExp(`^404 GET .*/${chunk}-`) });

  it.each([
    ['edit-webhook', '/console/webhooks', 'Add webhook'],
    ['question', '/console/webhooks/101', 'Pause…'],
    ['cancel-delivery', '/console/deliveries/msg_3', 'Cancel…'],
    ['resend-delivered', '/console/deliveries/msg_0', 'Resend now'],
    ['recover-dialog', '/console', 'Recover…'],
  ])('of the dialog %s is said in a dialog, each time it is asked for', async (chunk, path, name) => {
    const { page, mock } = await show(null, refused(chunk));
    await lose(page, chunk);
    await page.goto(mock.link(path));
    const button = page.getByRole('button', { name }).first();
    const dialog = page.getByRole('dialog', { name: LOST });
    await button.click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await button.click();
    await page.unroute(`**/assets/${chunk}-*.js`);
    await dialog.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await button.click();
    await page.getByRole('dialog').locator('footer').waitFor();
    expect(await dialog.count()).toBe(0);
  });

  it.each([
    ['disputes', '/console', '.problem .url', '.disputes'],
    ['charts', '/console', '.figures', 'figure'],
    ['last-day', '/console/webhooks/101', '.facts', 'figure'],
  ])('of the part %s is said in its place, and leaves the others', async (chunk, path, other, part) => {
    const { page, mock } = await show(null, refused(chunk));
    await lose(page, chunk);
    await page.goto(mock.link(path));
    await page.getByRole('heading', { name: LOST }).waitFor();
    await page.locator(other).first().waitFor();
    await page.unroute(`**/assets/${chunk}-*.js`);
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.locator(part).first().waitFor();
    expect(await page.getByRole('heading', { name: LOST }).count()).toBe(0);
  });
});
