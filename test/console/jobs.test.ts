/** Jobs that must be short, from the Overview, in states that the service takes long to be in. walks.test.ts has the others. */
import { clicksOn } from './browser.js';
import { describeOnMock } from './on-mock.js';

describeOnMock('a person', (show) => {
  it('sees what fails and why, without a click', async () => {
    const { page } = await show('/console');
    const problem = page.locator('.problem.bad');
    await problem.getByText('503 The receiver fails with an error of its own.').waitFor();
    await problem.getByText('7 given up').waitFor();
  });

  it('moves a receiver, tests it and recovers all in 6 clicks', async () => {
    const { page } = await show('/console');
    await page.locator('.problem.bad h2 a').click();
    await page.getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL', { exact: true }).fill('https://erp.example.com/v3/webhooks');
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    await dialog.getByText('The receiver answered 200').waitFor();
    await dialog.getByRole('button', { name: 'Recover…' }).click();
    await page.getByRole('button', { name: 'Send 3,612' }).click();
    await page.getByText('640 of 3,612').waitFor();
    expect(await clicksOn(page)).toBeLessThanOrEqual(6);
  });

  it('sees who changed a URL, and the list at that time, in 3 clicks', async () => {
    const { page } = await show('/console');
    await page.getByRole('link', { name: 'History' }).first().click();
    // A click to its user.
    await page.getByRole('combobox', { name: 'Who' }).selectOption('maria');
    await page.getByRole('link', { name: 'Webhook removed' }).click();
    await page.getByRole('region', { name: 'Webhooks as they stood' }).and(page.locator(':focus')).waitFor();
    await page.waitForURL('**/console/history?*at=*');
    expect(await page.getByText('Session opened').count()).toBe(0);
    expect(await clicksOn(page)).toBeLessThanOrEqual(2);
  });

  it('in finance has, in Portuguese, the MED notices that have not arrived as CSV in 2 clicks', async () => {
    const { page } = await show('/console', { locale: 'pt-BR' });
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: /^Avisos de MED que não chegaram/ }).click();
    await page.getByRole('button', { name: 'CSV' }).click();
    expect((await downloading).suggestedFilename()).toMatch(/\.csv$/);
    expect(new URL(page.url()).search).toBe('?arrived=nowhere&eventType=med');
    expect(await clicksOn(page)).toBeLessThanOrEqual(2);
  });
});
