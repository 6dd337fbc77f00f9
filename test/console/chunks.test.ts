/** A screen's chunk that cannot be loaded: the service was upgraded since the page was opened, or the network is gone. */
import { expect, it } from '@jest/globals';
import { findBrowser, launch, openPage } from './browser.js';
import { startMockApi } from './mock-api.js';

const executable = findBrowser();

if (executable)
  it('a screen whose chunk is gone says so, and comes with the page loaded again', () => test(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

async function test(executablePath: string): Promise<void> {
  const browser = await launch(executablePath);
  const mock = await startMockApi(100);
  const { page, wrongs } = await openPage(browser);
  await page.goto(mock.link());
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.route('**/deliveries-screen-*', (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  const reload = page.getByRole('button', { name: 'Reload the page' });
  await reload.waitFor();
  await page.unroute('**/deliveries-screen-*');
  await reload.click();
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  await browser.close();
  await mock.close();
  expect(wrongs).toEqual([]);
}
