/** Deliveries that wait without a time: a time that has passed is none, and nothing is ahead "2 hours ago". */
import { describeOnMock } from './on-mock.js';

/** Waits for its third attempt. */
const WAITING = 'msg_3';
const OVERDUE = { nextAttemptAt: new Date(Date.now() - 2 * 3_600_000).toISOString(), waitingFor: 'schedule' };
const waitsFor = (waitingFor: string) => ({ nextAttemptAt: null, waitingFor });

describeOnMock('an attempt that has no time', (show) => {
  it.each([
    [OVERDUE, 'Waitingwaits in the queue'],
    [waitsFor('queue'), 'Waitingwaits in the queue'],
    [waitsFor('endpoint-failing'), 'Waitingwaits: the URL takes nothing'],
    [waitsFor('endpoint-paused'), 'Waitingwaits: the URL asked for a pause'],
  ])('%j is in the list "%s"', async (wait, shown) => {
    const { page, mock } = await show(null);
    await page.route('**/api/deliveries?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { deliveries: object[] };
      const [first, ...others] = body.deliveries;
      await route.fulfill({ response, json: { ...body, deliveries: [{ ...first, ...wait }, ...others] } });
    });
    await page.goto(mock.link('/console/deliveries?outcome=retrying'));
    const outcomes = page.locator('tbody td.outcome');
    await outcomes
      .nth(1)
      .getByText(/next in/)
      .waitFor();
    expect(await outcomes.first().textContent()).toBe(shown);
  });

  it.each([
    [OVERDUE, 'waits in the queue'],
    [waitsFor('queue'), 'waits in the queue'],
    [waitsFor('endpoint-failing'), 'waits: the URL takes nothing'],
    [waitsFor('endpoint-paused'), 'waits: the URL asked for a pause'],
  ])('%j says on its own screen "%s"', async (wait, shown) => {
    const { page, mock } = await show(null);
    await page.route(`**/api/deliveries/${WAITING}`, async (route) => {
      const response = await route.fetch();
      const { delivery } = (await response.json()) as { delivery: object };
      await route.fulfill({ response, json: { delivery: { ...delivery, ...wait } } });
    });
    await page.goto(mock.link(`/console/deliveries/${WAITING}`));
    const step = page.locator('.step').filter({ hasText: 'Attempt 3 follows' });
    await step.getByText(shown).waitFor();
    expect(await step.locator('time').count()).toBe(0);
  });
});
