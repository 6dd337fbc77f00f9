/** Pages and filters of the lists: what a click keeps, and where the focus is after it. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

describeOnMock('a list', (show) => {
  it('stays on its page when a row of History shows the webhooks as they stood', async () => {
    const { page } = await show('/console/history');
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL('**/console/history?before=*');
    await page.getByRole('link', { name: 'Session opened' }).nth(3).click();
    await page.waitForURL('**/console/history?*at=*');
    expect(new URL(page.url()).searchParams.get('before')).toMatch(/^\d+$/);
  });

  it.each([
    ['deliveries', 'deliveries'],
    ['events', 'events'],
  ])('leads back to the newest %s from an older page that has none', async (path, name) => {
    const { page, mock } = await show(null);
    await page.route(`**/api/${path}?*before=*`, (route) => route.fulfill({ json: { [name]: [], next: null } }));
    await page.goto(mock.link(`/console/${path}?eventType=cash_in&before=900`));
    await page.getByRole('link', { name: 'Back to newest' }).click();
    await page.waitForURL(`**/console/${path}?eventType=cash_in`);
  });

  it('of events is filtered as before after a look at the event types', async () => {
    const { page } = await show('/console/events?eventType=cash_out');
    await page.getByRole('link', { name: 'Event types' }).click();
    await page.getByText('Example of data', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Published', exact: true }).click();
    await page.waitForURL('**/console/events?eventType=cash_out');
  });

  it.each(['deliveries', 'events'])('of %s keeps the focus in its search, before and after', async (path) => {
    const { page } = await show(`/console/${path}`);
    const search = page.getByRole('searchbox', { name: 'Find by event id' });
    await search.fill('none');
    await search.press('Enter');
    await page.waitForURL(`**/console/${path}?eventId=none`);
    await page.getByText('Nothing matches these filters').waitFor();
    expect(await isFocused(page)).toBe(true);
    await search.fill('');
    await page.waitForURL(`**/console/${path}`);
    await page.locator('tbody tr').first().waitFor();
    expect(await isFocused(page)).toBe(true);
    await search.fill('other');
    await page.getByRole('button', { name: 'Search' }).press('Enter');
    await page.getByText('Nothing matches these filters').waitFor();
    expect(await isFocused(page)).toBe(true);
  });

  it('shows, after Back, the id that was searched for before', async () => {
    const { page } = await show('/console/deliveries');
    const search = page.getByRole('searchbox', { name: 'Find by event id' });
    await search.fill('first');
    await search.press('Enter');
    await page.waitForURL('**/console/deliveries?eventId=first');
    await search.fill('second');
    await search.press('Enter');
    await page.waitForURL('**/console/deliveries?eventId=second');
    await page.goBack();
    await page
      .locator('.search-field')
      .filter({ has: page.getByRole('searchbox', { name: 'Find by event id' }) })
      .waitFor();
    await page.waitForFunction("document.querySelector('[type=search]').value === 'first'");
  });
});

describeOnMock('a list of deliveries', (show) => {
  it('is not filtered by an outcome that does not exist', async () => {
    const { page, mock } = await show(null);
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/deliveries') asked.push(searchParams.get('outcome'));
    });
    await page.goto(mock.link('/console/deliveries?outcome=waiting'));
    await page.locator('tbody tr').first().waitFor();
    await page.locator('.segmented [aria-current=true]').getByText('All', { exact: true }).waitFor();
    expect(new Set(asked)).toEqual(new Set([null]));
  });

  it('has its address, with filters and page, to copy', async () => {
    const { page } = await show('/console/deliveries?outcome=exhausted', {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL('**/console/deliveries?*before=*');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.waitForFunction('navigator.clipboard.readText().then((text) => text === location.href)');
  });
});

const isFocused = (page: Page) => page.evaluate<boolean>("document.activeElement.type === 'search'");
