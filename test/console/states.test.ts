/** Screens of an account that has nothing or much, and of a service that fails. */
import { describeOnMock } from './on-mock.js';

/** Waits for its third attempt. */
const WAITING = 'msg_3';
const FAILING = { refused: /^503 GET \/api\// };

describeOnMock('the console', (show) => {
  it('begins, from an empty Overview, with a receiver in four languages', async () => {
    const { page } = await show('/console', { size: 0 });
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    await page.getByText('standardwebhooks').first().waitFor();
    for (const [language, line] of [
      ['Python', 'import os'],
      ['PHP', 'hash_hmac'],
      ['Go', 'package main'],
    ] as const) {
      await page.getByLabel('Language', { exact: true }).selectOption(language);
      await page.getByText(line).waitFor();
    }
  });

  it('says of an account without events when there will be some', async () => {
    const { page } = await show('/console/events', { size: 0 });
    await page.getByRole('heading', { name: 'Nothing was published yet' }).waitFor();
  });

  it('shows the state of webhooks by event type, and no value of a header', async () => {
    const { page } = await show('/console/webhooks');
    await page.getByText('2 of 3 active').waitFor();
    expect(await page.locator('.hook .badge').allTextContents()).toEqual([
      ...['Healthy', 'Healthy', 'Failing', 'Healthy', 'Switched off'],
    ]);
    await page.locator('.hook a').first().click();
    await page.waitForURL('**/console/webhooks/101');
    await page.getByText('X-Api-Key, Authorization').waitFor();
    await page.locator('td.event').first().waitFor();
    const changes = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Changes' }) });
    await changes.locator('tbody tr').first().waitFor();
    expect(await changes.locator('tbody tr').allTextContents()).toEqual([expect.stringContaining('maria')]);
    expect(await page.content()).not.toContain('k-123');
  });

  it('keeps type and period of Events in the address', async () => {
    const { page } = await show('/console/events');
    await page.getByRole('combobox', { name: 'Event' }).selectOption('cash_out');
    await page.getByLabel('From').fill('2026-01-02T03:04');
    await page.waitForURL('**/console/events?eventType=cash_out&from=2026-01-02T06%3A04%3A00.000Z');
  });

  it('shows the event types with their schemas and examples', async () => {
    const { page } = await show('/console/events');
    await page.getByRole('link', { name: 'Event types' }).click();
    await page.getByText('Example of data', { exact: true }).click();
    await page.getByText('"150.00"').waitFor();
  });

  it('cancels the waiting resend of a delivery that had arrived', async () => {
    const { page, mock } = await show(null);
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
    await page.getByRole('dialog').getByRole('button', { name: 'Resend now' }).click();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('dialog').getByText('The delivery is again what it was before.').waitFor();
    await page.getByRole('button', { name: 'Cancel attempt' }).click();
    await page.getByText('The attempt is cancelled.').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).waitFor({ state: 'detached' });
    expect(await page.getByText('Sending again…').count()).toBe(0);
  });

  it('says how many changes the slider of History covers', async () => {
    const { page, mock } = await show(null);
    const change = { at: '2026-10-02T12:00:00.000Z', actor: 'maria', type: 'WebhookRemoved', webhookId: 1 };
    const events = Array.from({ length: 200 }, () => ({ ...change, changes: 'removed' }));
    await page.route('**/api/history?*', (route) => route.fulfill({ json: { events, next: '200' } }));
    await page.goto(mock.link('/console/history'));
    await page.getByText(/^The slider covers the latest 1,000 changes, back to /).waitFor();
  });

  it('lists who changed what, page by page', async () => {
    const { page } = await show('/console/history');
    await page.getByRole('link', { name: 'Webhook removed' }).waitFor();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.waitForURL('**/console/history?before=*');
    await page.getByRole('link', { name: 'Back to newest' }).waitFor();
  });

  it('moves History by keyboard, with its time as text and in the address', async () => {
    const { page } = await show('/console/history');
    const slider = page.getByRole('slider', { name: 'Point in time' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await page.waitForURL('**/console/history?at=*');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/20\d\d/);
  });

  it('links what changed during a delivery to History', async () => {
    const { page } = await show('/console/deliveries/msg_6');
    await page.getByText('Webhook changed by maria').waitFor();
    await page.getByRole('link', { name: 'headers X-Api-Key' }).click();
    await page.waitForURL('**/console/history?at=*');
    await page.getByRole('heading', { level: 1, name: 'History' }).waitFor();
  });

  it('shows in the timeline of a cancelled delivery the change that ended it, and none from after it', async () => {
    const { page, mock } = await show(null);
    const { delivery } = mock.account.delivery(WAITING) ?? {};
    const last = Date.parse(delivery?.attempts.at(-1)?.at ?? '');
    const change = (type: string, after: number, changes: string) => {
      const at = new Date(last + after).toISOString();
      return { at, actor: 'client/maria', type, webhookId: delivery?.webhookId, changes };
    };
    const events = [
      change('WebhookActivated', 300_000, 'activated'),
      change('WebhookDeactivated', 200_000, 'deactivated: deactivated by the account'),
      change('WebhookUpdated', 100_000, 'updated: cash_in https://a.example v2'),
    ];
    await page.route('**/api/history?*', (route) => route.fulfill({ json: { events, next: null } }));
    const cancelled = { ...delivery, outcome: 'cancelled', nextAttemptAt: null, waitingFor: null };
    await page.route(`**/api/deliveries/${WAITING}`, (route) => route.fulfill({ json: { delivery: cancelled } }));
    await page.goto(mock.link(`/console/deliveries/${WAITING}`));
    await page.getByText('Webhook paused by maria').waitFor();
    await page.getByText('Webhook changed by maria').waitFor();
    expect(await page.getByText('Webhook activated by maria').count()).toBe(0);
  });

  it('keeps a delivery with its time while the API fails, and moves on when it is back', async () => {
    const { page, mock } = await show(`/console/deliveries/${WAITING}`, FAILING);
    await page.getByText('Attempt 3 follows').waitFor();
    mock.fault = { status: 503 };
    await page.getByText(/The service answers 503. Shown as of/).waitFor();
    expect(await page.getByText('Attempt 3 follows').count()).toBe(1);
    mock.fault = null;
    await page.getByText('Up to date').waitFor();
  });

  it('keeps the list of changes while the API fails', async () => {
    const { page, mock } = await show('/console/history', FAILING);
    await page.getByRole('link', { name: 'Webhook removed' }).waitFor();
    mock.fault = { status: 503 };
    const failing = page.getByText(/The service answers 503. Shown as of/);
    await failing.first().waitFor();
    expect(await page.getByRole('link', { name: 'Webhook removed' }).count()).toBe(1);
  });

  // The service was upgraded since the page was opened, or the network is gone.
  it('says that the chunk of a screen is gone, and shows it once the page is loaded again', async () => {
    const { page } = await show('/console', { refused: /^404 GET .*deliveries-screen/ });
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.route('**/deliveries-screen-*', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    const reload = page.getByRole('button', { name: 'Reload the page' });
    await reload.waitFor();
    await page.unroute('**/deliveries-screen-*');
    await reload.click();
    await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  });
});
