/** What somebody who never saw the console has to find, in a browser. */
import type { Page } from 'playwright-core';
import { REMOVED_URL } from './mock-views.js';
import { describeOnMock } from './on-mock.js';
import { GIVEN_UP } from './screens.js';

describeOnMock('a support engineer', (show) => {
  it('is led back from a delivery to the list as it was filtered', async () => {
    const { page } = await show('/console/deliveries?outcome=exhausted&eventType=cash_out');
    await page.locator('td.event a').first().click();
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await page.reload();
    await page.locator('a.crumb').click();
    await page.waitForURL('**/console/deliveries?outcome=exhausted&eventType=cash_out');
  });

  it.each(['/console/deliveries', '/console/events'])(
    'opens a delivery by the id that its receiver logged, at %s',
    async (path) => {
      const { page } = await show(path);
      await page.getByRole('searchbox').fill(GIVEN_UP);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('heading', { name: 'Timeline' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`/console/deliveries/${GIVEN_UP}`);
      expect(await page.locator('h1').textContent()).toContain('pay_');
    },
  );

  it('is told to widen the period only if there is one', async () => {
    const { page, mock } = await show('/console/deliveries?eventId=none&outcome=held');
    await page.getByText('Upper and lower case differ').waitFor();
    await page.goto(`${mock.url}/console/events?eventId=none`);
    await page.getByText('Ids are matched exactly').waitFor();
    expect(await page.getByText('Widen the period').count()).toBe(0);
    await page.goto(`${mock.url}/console/events?eventId=none&from=2020-01-01T00:00:00.000Z`);
    await page.getByText('Widen the period or remove a filter.').waitFor();
  });

  it('sees how a recovery ended, until it is dismissed', async () => {
    const { page, mock } = await show('/console');
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Recover deliveries' });
    await dialog.getByRole('button', { name: /^Send [1-9]/ }).click();
    await dialog.getByText('640 of 3,612').waitFor();
    await page.keyboard.press('Escape');
    const running = mock.account.recovery;
    if (!running) throw new Error('no recovery was started');
    mock.account.recovery = { ...running, state: 'done', count: 17, sent: 17, delivered: 0, failed: 17 };
    const strip = page.getByRole('list', { name: 'Recoveries' });
    await strip.getByText('Done: 17 sent, 0 delivered, 17 failed again').waitFor();
    await strip.getByRole('button', { name: 'Close' }).click();
    await strip.waitFor({ state: 'detached' });
  });

  it('is not told what failed again of a recovery that delivered all', async () => {
    const { page, mock } = await show('/console');
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Recover deliveries' });
    await dialog.getByRole('button', { name: /^Send [1-9]/ }).click();
    await dialog.getByText('640 of 3,612').waitFor();
    const running = mock.account.recovery;
    if (!running) throw new Error('no recovery was started');
    mock.account.recovery = { ...running, state: 'done', count: 17, sent: 17, delivered: 17, failed: 0 };
    await dialog.getByText('Done', { exact: true }).waitFor();
    expect(await dialog.getByText('What failed again is kept').count()).toBe(0);
  });

  it('is warned before a recovery to a URL whose last attempt failed', async () => {
    const { page } = await show('/console');
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Recover deliveries' });
    await dialog.getByText('Its last attempt failed: 503').waitFor();
    await dialog.getByRole('link', { name: 'Go to its page to test it' }).click();
    await page.waitForURL('**/console/webhooks/102');
    expect(await dialog.count()).toBe(0);
  });

  it('sees no word of an attempt on its way beside the attempt that arrived', async () => {
    // Given up too, and its URL is well by now.
    const { page } = await show('/console/deliveries/msg_23');
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    // Nothing goes by time from here on.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 1_000);
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByText('One more attempt is on its way.').waitFor();
    await page.getByText('Accepted by the receiver after 5 attempts.').waitFor();
    await page.getByText('One more attempt is on its way.').waitFor({ state: 'hidden' });
  });

  it.each([
    ['UTC', /^UTC$/],
    // With the day for the three hours in which UTC has the next one.
    ['America/Sao_Paulo', /^(\d\d? [A-Z][a-z]{2}, )?\d\d:\d\d:\d\d UTC$/],
  ])('reads each time once in %s, and in UTC', async (timezoneId, small) => {
    const { page } = await show('/console/deliveries', { timezoneId });
    expect(await page.locator('td.published small').first().textContent()).toMatch(small);
  });

  it('tells URLs apart by the end of their paths where there is little room', async () => {
    const { page } = await show('/console/deliveries');
    const to = page.locator('td.to .url').first();
    await to.waitFor();
    await to.evaluate((cell) => {
      cell.style.maxWidth = '120px';
    });
    const [host, end] = [await isCut(to.locator('b')), await isCut(to.locator('.end'))];
    expect({ host, end }).toEqual({ host: true, end: false });
    const options = await page.getByRole('combobox', { name: 'Webhook' }).locator('option').allTextContents();
    expect(options[1]).toBe('Cash in · /payments/inbound · hooks.loja-aurora.com.br');
  });

  it('reads the numbers of a chart by pointer and by keyboard', async () => {
    const { page } = await show('/console?range=1h');
    const chart = page.getByRole('figure', { name: /^Attempts and held/ });
    await chart.locator('svg').hover();
    await chart
      .getByText(/^\d\d:\d\d$/)
      .locator('visible=true')
      .last()
      .waitFor();
    await page.mouse.move(0, 0);
    const slider = chart.getByRole('slider');
    await slider.focus();
    const latest = await slider.getAttribute('aria-valuetext');
    await page.keyboard.press('ArrowLeft');
    expect(latest).toMatch(/^\d\d:\d\d, Delivered: \d/);
    expect(await slider.getAttribute('aria-valuetext')).not.toBe(latest);
    await chart.locator('.chart-reading').waitFor();
  });

  it('sees the time to answer of a single minute', async () => {
    const { page, mock } = await show(null);
    await page.route('**/api/stats?*', async (route) => {
      const response = await route.fetch();
      const stats = (await response.json()) as { buckets: { p50Ms: number | null; p95Ms: number | null }[] };
      const buckets = stats.buckets.map((bucket, at) => (at === 3 ? bucket : { ...bucket, p50Ms: null, p95Ms: null }));
      await route.fulfill({ response, json: { ...stats, buckets } });
    });
    await page.goto(mock.link('/console?range=1h'));
    const chart = page.getByRole('figure', { name: /^Time to answer/ });
    await chart.locator('svg circle').first().waitFor();
    expect(await chart.locator('svg circle').count()).toBe(2);
  });

  it('goes to a time of the history by typing it', async () => {
    const { page } = await show('/console/history');
    await page.getByText('The history begins on').waitFor();
    await page.getByText('4 active, 1 off.').waitFor();
    const time = page.getByLabel('Date and time');
    const wanted = await time.inputValue();
    const dayBefore = new Date(Date.parse(`${wanted}Z`) - 4 * 86_400_000).toISOString().slice(0, 16);
    await time.fill(dayBefore);
    await page.waitForURL('**/console/history?at=*');
    await page.getByRole('heading', { name: 'Added since' }).waitFor();
  });

  it('is led to the beginning of the history by a time before it', async () => {
    const { page } = await show('/console/history');
    const time = page.getByLabel('Date and time');
    await time.fill('2020-01-01T00:00');
    await time.blur();
    await page.waitForURL('**/console/history?at=*');
    expect(await page.getByRole('button', { name: 'Previous change' }).isDisabled()).toBe(true);
  });

  it('reads of each change which webhook it is about, what it changed, and by whom', async () => {
    const { page, mock } = await show(null);
    mock.account.recover(102, { since: new Date(0).toISOString(), include: ['held'], perSecond: 20 });
    await page.goto(mock.link('/console/history'));
    const row = (title: string) => page.getByRole('row').filter({ hasText: title }).first();
    await row('Webhook activated').getByTitle('https://hooks.loja-aurora.com.br/payments/inbound').waitFor();
    await row('Webhook activated').getByText('Cash in').waitFor();
    await row('Webhook changed').getByText('headers added: X-Api-Key · headers removed: X-Old').waitFor();
    await row('Recovery ended').getByText('Done: 640 sent, 631 delivered, 9 failed again').waitFor();
    await row('Recovery ended')
      .getByTitle(/^https:\/\/erp/)
      .waitFor();
    await row('Webhook removed').getByTitle(REMOVED_URL).waitFor();
    expect(await row('Webhook changed').getByRole('cell').nth(1).textContent()).toBe('mariaacct_42_590ca10f7d399523');
  });

  it('is brought to the list as it stood by a click on a change', async () => {
    const { page } = await show('/console/history');
    await page.getByRole('link', { name: 'Webhook removed' }).click();
    await page.getByRole('region', { name: 'Webhooks at a point in time' }).and(page.locator(':focus')).waitFor();
  });

  it('selects the id of an event in a row that is a link', async () => {
    const { page } = await show('/console/deliveries');
    await page.locator('td.event code').first().dblclick();
    expect(await page.evaluate('String(getSelection())')).toContain('pay_');
    expect(new URL(page.url()).pathname).toBe('/console/deliveries');
  });
});

const isCut = (part: ReturnType<Page['locator']>) =>
  part.evaluate((element) => element.scrollWidth > element.clientWidth);
