/** An account with nothing in it: each screen says why, and what comes next. */
import { describeOnMock } from './on-mock.js';

describeOnMock('an empty account', (show) => {
  it.each([
    ['/console', 'No webhooks yet', 'Add a webhook'],
    ['/console/deliveries', 'No deliveries yet', 'See webhooks'],
    ['/console/events', 'Nothing was published yet', 'See event types'],
    ['/console/history', 'No webhooks yet', 'Add a webhook'],
  ])('%s says %s, and leads on', async (path, title, link) => {
    const { page, mock } = await show(null, { size: 0 });
    await page.goto(mock.link(path));
    const notice = page.locator('.notice').filter({ hasText: title });
    await notice.getByRole('link', { name: link }).click();
    await page.getByRole('heading', { level: 1, name: /Webhooks|Events/ }).waitFor();
  });

  it('leads from a time without webhooks back to now', async () => {
    const { page, mock } = await show(null, { size: 0 });
    await page.goto(mock.link('/console/history?at=2026-01-01T00:00:00.000Z'));
    const notice = page.locator('.notice').filter({ hasText: 'No webhooks at that time' });
    await notice.getByRole('link', { name: 'Back to now' }).click();
    await page.waitForURL('**/console/history');
  });

  it('has no table of changes where a page of them is empty', async () => {
    const { page, mock } = await show(null, { size: 0 });
    await page.route('**/api/history?*', (route) => route.fulfill({ json: { events: [], next: null } }));
    await page.goto(mock.link('/console/history?before=0'));
    await page.getByText('No changes here').waitFor();
    expect(await page.getByRole('table').count()).toBe(0);
    await page.getByRole('link', { name: 'Back to newest' }).click();
    await page.waitForURL('**/console/history');
  });
});
