/** What the Overview says first: the order of its problems, its counts, and where each leads. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const HOUR = 3_600_000;

describeOnMock('the Overview', (show) => {
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
  const failing = (hours: number) => ({ state: 'failing', since: ago(hours * HOUR), waiting: 2, held: 0 });
  const off = (hours: number) => ({ state: 'off', offBy: 'service', since: ago(hours * HOUR), waiting: 0, held: 0 });

  /** All other webhooks are well. @param changes by id, as they are at each call */
  async function healthIs(page: Page, changes: Record<number, object>): Promise<void> {
    await page.route('**/api/webhooks/health', async (route) => {
      const response = await route.fetch();
      const { webhooks } = (await response.json()) as { webhooks: { webhookId: number }[] };
      const well = { state: 'healthy', offBy: null, since: null, waiting: 0, held: 0 };
      const shown = webhooks.map((health) => ({ ...health, ...well, ...changes[health.webhookId] }));
      await route.fulfill({ response, json: { webhooks: shown } });
    });
  }

  const cards = (page: Page) =>
    page.locator('.problem h2 a').evaluateAll((links) => links.map((link) => link.getAttribute('href')?.slice(-3)));

  it('has what is switched off first, then what fails for longest, and moves no card that is shown', async () => {
    const { page, mock } = await show(null);
    const changes: Record<number, object> = { 102: failing(2), 103: failing(5), 105: off(1) };
    await healthIs(page, changes);
    await page.goto(mock.link());
    await page.locator('.problem').nth(2).waitFor();
    expect(await cards(page)).toEqual(['105', '103', '102']);
    changes[104] = off(3);
    await page.locator('.problem').nth(3).waitFor();
    expect(await cards(page)).toEqual(['105', '103', '102', '104']);
    await page.reload();
    await page.locator('.problem').nth(3).waitFor();
    expect(await cards(page)).toEqual(['104', '105', '103', '102']);
    await page.locator('.problem h2 a').first().click();
    await page.waitForURL('**/console/webhooks/104');
  });

  it('says how many deliveries wait for webhooks that are well', async () => {
    const { page, mock } = await show(null);
    await healthIs(page, { 102: { ...failing(2), waiting: 44 }, 101: { waiting: 20 }, 103: { waiting: 8 } });
    await page.goto(mock.link());
    await page.getByText('4 other webhooks deliver').waitFor();
    await page.getByRole('link', { name: '28 deliveries wait for the next attempt' }).click();
    await page.waitForURL('**/console/deliveries?outcome=retrying');
  });

  const paused = { state: 'off', offBy: 'account', waiting: 0, held: 0 };
  const untried = { state: 'untried', since: null, waiting: 0, held: 0 };

  it.each([
    ['4 other webhooks deliver', { 102: failing(2) }],
    ['3 other webhooks deliver; 1 is paused: new events are not kept', { 102: failing(2), 105: paused }],
    ['2 are paused: new events are not kept', { 101: off(1), 102: off(2), 103: off(3), 104: paused, 105: paused }],
    ['All 5 webhooks deliver', {}],
    ['3 webhooks deliver; 1 had no event yet; 1 is paused: new events are not kept', { 104: untried, 105: paused }],
  ])('says of the other webhooks: %s', async (said, changes) => {
    const { page, mock } = await show(null);
    await healthIs(page, changes);
    await page.goto(mock.link());
    await page.getByRole('region', { name: 'State of your webhooks' }).getByText(said, { exact: true }).waitFor();
  });

  // Given up and held are counted when they end, which may be days after they were published.
  it.each([
    ['1 hour', 'Given up', 'outcome=exhausted'],
    ['24 hours', 'Held', 'outcome=held'],
    ['7 days', 'Delivered', 'outcome=delivered&period=week'],
  ])('leads, over %s, from %s to the deliveries that it counts', async (period, name, query) => {
    const { page, mock } = await show(null);
    await page.goto(mock.link());
    await page.getByRole('link', { name: period }).click();
    await page.getByRole('link', { name: new RegExp(`^${name}`) }).click();
    await page.waitForURL(`**/console/deliveries?${query}`);
  });

  it('names each hour of the 7-day charts by its day and hour, where one is read', async () => {
    const { page } = await show('/console?range=7d');
    const rows = page.getByRole('table', { name: 'Attempts and held deliveries' }).locator('tbody th');
    await rows.first().waitFor({ state: 'attached' });
    const names = await rows.allTextContents();
    expect(names).toHaveLength(168);
    expect(new Set(names).size).toBe(168);
    const axis = await page.locator('.chart svg > text').allTextContents();
    expect(axis.filter((text) => text.includes(':'))).toEqual([]);
  });

  it('has the oldest MED notices first, whose deadlines end first, their count, and all of them on request', async () => {
    const { page, mock } = await show(null);
    await page.goto(mock.link());
    const card = page.getByRole('region', { name: 'MED notices that have not arrived' });
    await card.getByText(/^5 of \d+\+$/).waitFor();
    expect(await card.locator('li').count()).toBe(5);
    const times = await card.locator('time').evaluateAll((all) => all.map((time) => time.getAttribute('datetime')));
    expect(times).toEqual([...times].sort());
    await card.getByRole('button', { name: /^Show all/ }).click();
    const count = await card.locator('li').count();
    await card.getByText(`${count} of ${count}+`).waitFor();
    expect(count).toBeGreaterThan(5);
    const all = await card.locator('time').evaluateAll((each) => each.map((time) => time.getAttribute('datetime')));
    expect(times).toEqual([...all].sort().slice(0, 5));
    expect(await card.getByRole('button').count()).toBe(0);
  });
});
