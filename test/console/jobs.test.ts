/** Jobs that must be short: how many clicks each takes, from the Overview. */
import type { Locator, Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

describeOnMock('a person', (show) => {
  /** Does it and counts. */
  async function clicks(...targets: readonly Locator[]): Promise<number> {
    for (const target of targets) await target.first().click();
    return targets.length;
  }
  const inPortuguese = { locale: 'pt-BR' };

  it('sees what fails and why, without a click', async () => {
    const { page } = await show('/console');
    const problem = page.locator('.problem.bad');
    await problem.getByText('503 The receiver fails with an error of its own.').waitFor();
    await problem.getByText('7 given up').waitFor();
  });

  it('moves a receiver, tests it and recovers all in 6 clicks', async () => {
    const { page } = await show('/console');
    await page.route('**/api/webhooks/move', (route) =>
      route.fulfill({ json: { success: true, message: 'moved', count: 1 } }),
    );
    const result = { id: 't', status: 200, error: null, reason: null, durationMs: 12, response: null };
    await page.route('**/test', (route) => route.fulfill({ json: { success: true, message: 'sent', result } }));
    let count = await clicks(page.locator('.problem.bad h2 a'), page.getByRole('button', { name: 'Edit…' }));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL', { exact: true }).fill('https://erp.example.com/v3/webhooks');
    count += await clicks(dialog.getByRole('button', { name: 'Save and test' }));
    await dialog.getByText('The receiver answered 200').waitFor();
    count += await clicks(
      dialog.getByRole('button', { name: 'Recover…' }),
      page.getByRole('button', { name: 'Send 3,612' }),
    );
    await page.getByText('640 of 3,612').waitFor();
    expect(count).toBeLessThanOrEqual(6);
  });

  it('finds a payment by its id, with what was answered, in 2 clicks', async () => {
    const { page, mock } = await show('/console');
    const id = mock.account.page({}).deliveries[6]?.eventId ?? '';
    const count = await clicks(page.getByRole('searchbox'));
    await page.getByRole('searchbox').fill(id);
    await page.keyboard.press('Enter');
    await page.getByText('database is in maintenance').filter({ visible: true }).first().waitFor();
    expect(count).toBeLessThanOrEqual(2);
  });

  it('rotates a secret that has leaked in 5 clicks', async () => {
    const { page } = await show('/console');
    const asked: unknown[] = [];
    await page.route('**/api/signing-secrets', (route) => {
      if (route.request().method() === 'GET') return route.fallback();
      asked.push(route.request().postDataJSON());
      return route.fulfill({ status: 201, json: { secret: 'whsec_test', endsAt: new Date().toISOString() } });
    });
    const count = await clicks(
      page.getByRole('link', { name: 'Security' }),
      page.getByRole('button', { name: 'Rotate…' }),
      page.getByRole('checkbox', { name: /^The secret has leaked/ }),
      page.getByRole('button', { name: 'Issue a new secret' }),
    );
    await page.getByText('whsec_test').waitFor();
    await page.getByText('The secrets before sign nothing any more.').waitFor();
    expect(asked).toEqual([{ revokePrevious: true }]);
    expect(count).toBeLessThanOrEqual(5);
  });

  it('sees who changed a URL, and the list at that time, in 3 clicks', async () => {
    const { page } = await show('/console');
    const count = await clicks(
      page.getByRole('link', { name: 'History' }),
      page.getByRole('link', { name: 'Webhook removed' }),
    );
    await page.getByRole('region', { name: 'Webhooks as they stood' }).and(page.locator(':focus')).waitFor();
    await page.waitForURL('**/console/history?at=*');
    expect(await page.getByText('Session opened').count()).toBe(0);
    expect(count).toBeLessThanOrEqual(3);
  });

  it('gets back what a paused webhook missed in 3 clicks', async () => {
    const { page, mock } = await show(null);
    await missedOnly(page);
    await page.goto(mock.link('/console/webhooks/101'));
    const count = await clicks(
      page.getByRole('button', { name: 'Recover…' }),
      page.getByRole('checkbox', { name: /^Missed/ }),
      page.getByRole('button', { name: 'Send 5' }),
    );
    await page.getByText(/^640 of /).waitFor();
    expect(mock.account.recovery?.include).toContain('missed');
    expect(count).toBeLessThanOrEqual(3);
  });

  it('in finance has, in Portuguese, the MED notices that have not arrived as CSV in 2 clicks', async () => {
    const { page } = await show('/console', inPortuguese);
    const downloading = page.waitForEvent('download');
    const count = await clicks(
      page.getByRole('link', { name: /^Avisos de MED que não chegaram/ }),
      page.getByRole('button', { name: 'CSV' }),
    );
    expect((await downloading).suggestedFilename()).toMatch(/\.csv$/);
    expect(new URL(page.url()).search).toBe('?arrived=nowhere&eventType=med');
    expect(count).toBeLessThanOrEqual(2);
  });

  it('sets the URL for notices in 3 clicks', async () => {
    const { page } = await show('/console', { size: 0 });
    await page.route('**/api/notices', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ json: { success: true, message: 'set' } })
        : route.fallback(),
    );
    let count = await clicks(
      page.getByRole('link', { name: 'Security' }),
      page.getByRole('button', { name: 'Set a URL…' }),
    );
    await page.getByRole('dialog').getByLabel('URL').fill('https://ops.example.com/notices');
    count += await clicks(page.getByRole('button', { name: 'Save', exact: true }));
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(count).toBeLessThanOrEqual(3);
  });

  it('of an empty account finds the signing secret in 1 click', async () => {
    const { page } = await show('/console', { size: 0 });
    const count = await clicks(page.getByRole('link', { name: 'Add a webhook' }));
    await page.getByText('Your signing secret was shown once').waitFor();
    expect(count).toBeLessThanOrEqual(1);
  });
});

async function missedOnly(page: Page): Promise<void> {
  await page.route(/\/recover\?/, async (route) => {
    const count = new URL(route.request().url()).searchParams.get('include') === 'missed' ? 5 : 0;
    // Of one of the two types of the URL.
    const isFirst = route.request().url().includes('/101/');
    await route.fulfill({ json: { count: isFirst ? count : 0, oldest: null, newest: null } });
  });
}
