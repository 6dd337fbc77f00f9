/** Attempts that were due at a time that has passed: they wait for their URL, and nothing is ahead "2 hours ago". */
import { describeOnMock } from './on-mock.js';

/** Waits for its third attempt. */
const WAITING = 'msg_3';
const HOUR = 3_600_000;

describeOnMock('an attempt that is overdue', (show) => {
  const overdue = new Date(Date.now() - 2 * HOUR).toISOString();

  it('has no time in the list', async () => {
    const { page, mock } = await show(null);
    await page.route('**/api/deliveries?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { deliveries: object[] };
      const [first, ...others] = body.deliveries;
      await route.fulfill({
        response,
        json: { ...body, deliveries: [{ ...first, nextAttemptAt: overdue }, ...others] },
      });
    });
    await page.goto(mock.link('/console/deliveries?outcome=retrying'));
    const outcomes = page.locator('tbody td.outcome');
    await outcomes
      .nth(1)
      .getByText(/next in/)
      .waitFor();
    expect(await outcomes.first().textContent()).toBe('Waiting');
  });

  it('waits in the queue of its URL', async () => {
    const { page, mock } = await show(null);
    await page.route(`**/api/deliveries/${WAITING}`, async (route) => {
      const response = await route.fetch();
      const { delivery } = (await response.json()) as { delivery: object };
      await route.fulfill({ response, json: { delivery: { ...delivery, nextAttemptAt: overdue } } });
    });
    await page.goto(mock.link(`/console/deliveries/${WAITING}`));
    const step = page.locator('.step').filter({ hasText: 'Attempt 3 follows' });
    await step.getByText('Waits in the queue of its URL.').waitFor();
    expect(await step.locator('time').count()).toBe(0);
  });
});
