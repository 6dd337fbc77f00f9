/** Jobs that must be short, from the Overview, on a day of history. walks.test.ts has the others. */
import { clicksOn } from './browser.js';
import { describeOnDay } from './day.js';

describeOnDay('a person', (show) => {
  it('sees what fails and why, without a click', async () => {
    const { page, day } = await show(null);
    const { id } = await day.webhook('/notify');
    const counted = page.waitForResponse(`**/api/webhooks/${id}`);
    await page.goto(await day.link());
    const problem = page.locator('.problem.bad').filter({ hasText: '/notify' });
    await problem.getByText('404 The receiver does not know this path.').waitFor();
    const { deliveries } = (await (await counted).json()) as { deliveries: { exhausted: number } };
    expect(deliveries.exhausted).toBeGreaterThan(0);
    await problem.getByText(`${deliveries.exhausted} given up`).waitFor();
  });

  it('moves a receiver, tests it and recovers all in 6 clicks', async () => {
    const { page, day } = await show('/');
    await page.locator('.problem.bad h2 a').filter({ hasText: '/crm' }).click();
    await page.getByRole('button', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL', { exact: true }).fill(`${day.receiver.url}/v3/crm`);
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    await dialog.getByText('The receiver answered 200').waitFor();
    await dialog.getByRole('button', { name: 'Recover…' }).click();
    const send = page.getByRole('button', { name: /^Send [1-9]/ });
    const count = Number((await send.textContent())?.slice('Send '.length));
    await send.click();
    await page.getByRole('dialog').getByText('Done', { exact: true }).waitFor();
    expect(await clicksOn(page)).toBeLessThanOrEqual(6);
    const arrived = day.receiver.arrivals.filter(({ path }) => path === '/v3/crm');
    // With the test.
    expect(new Set(arrived.map(({ id }) => id)).size).toBe(count + 1);
  });

  it('sees who changed a URL, and the list at that time, in 3 clicks', async () => {
    const { page } = await show('/');
    await page.getByRole('link', { name: 'History' }).first().click();
    // A click to its user.
    await page.getByRole('combobox', { name: 'Who' }).selectOption('ana');
    const byAna = page.getByRole('row').filter({ hasText: 'ana' });
    await byAna.getByRole('link', { name: 'Webhook changed' }).click();
    await page.getByRole('region', { name: 'Webhooks as they stood' }).and(page.locator(':focus')).waitFor();
    await page.waitForURL('**/console/history?*at=*');
    expect(await page.getByText('Session opened').count()).toBe(0);
    expect(await clicksOn(page)).toBeLessThanOrEqual(2);
  });

  it('in finance has, in Portuguese, the MED notices that have not arrived as CSV in 2 clicks', async () => {
    const { page } = await show('/', { locale: 'pt-BR' });
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: /^Avisos de MED que não chegaram/ }).click();
    await page.getByRole('button', { name: 'CSV' }).click();
    expect((await downloading).suggestedFilename()).toMatch(/\.csv$/);
    expect(new URL(page.url()).search).toBe('?arrived=nowhere&eventType=med');
    expect(await clicksOn(page)).toBeLessThanOrEqual(2);
  });
});
