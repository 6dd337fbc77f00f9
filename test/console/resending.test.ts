/** Resends, of a selection and of one delivery: what is sent again is what its user sees, and asks for. */
import type { Page } from 'playwright-core';
import type { MockApi } from './mock-api.js';
import { describeOnMock } from './on-mock.js';

const DELIVERED = 'msg_0';
/** To a URL that is failing. */
const GIVEN_UP = 'msg_6';
const WAITS = 'The URL is failing: the attempt follows as soon as the URL is tried again.';

describeOnMock('a resend', (show) => {
  const boxes = (page: Page) => page.getByRole('checkbox', { name: /^Select pay_/ });
  const selection = (page: Page, count: number) => page.getByRole('region', { name: `${count} selected` });

  async function select(page: Page, count: number): Promise<void> {
    for (let row = 0; row < count; row += 1) await boxes(page).nth(row).check();
    await selection(page, count).waitFor();
  }

  async function resendSelected(page: Page, count: number): Promise<void> {
    await page.getByRole('button', { name: `Resend ${count}` }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Resend ${count}` })
      .click();
  }

  it('of a selection is asked for each time', async () => {
    const { page } = await show('/console/deliveries');
    await select(page, 2);
    await resendSelected(page, 2);
    await page.getByText('2 deliveries are on their way.').waitFor();
    await selection(page, 2).waitFor({ state: 'detached' });
    await select(page, 1);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it.each([
    ['another tab', (page: Page) => page.getByRole('link', { name: 'Delivered', exact: true }).click()],
    ['another filter', (page: Page) => page.getByRole('combobox', { name: 'Webhook' }).selectOption('101')],
    ['another page', (page: Page) => page.getByRole('link', { name: 'Older' }).click()],
  ])('takes nothing that was selected before %s', async (_, leave) => {
    const { page } = await show('/console/deliveries');
    await select(page, 2);
    const before = page.url();
    await leave(page);
    await page.waitForURL((url) => url.href !== before);
    await selection(page, 2).waitFor({ state: 'detached' });
    await page.goBack();
    await boxes(page).first().waitFor();
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0);
  });

  it('takes nothing that has left the list', async () => {
    const { page } = await show('/console/deliveries');
    await select(page, 2);
    await page.route('**/api/deliveries?*', async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { deliveries: object[] };
      await route.fulfill({ response, json: { ...body, deliveries: body.deliveries.slice(1) } });
    });
    await selection(page, 1).waitFor();
    await page.getByRole('button', { name: 'Resend 1' }).waitFor();
  });

  it('that fails leaves its delivery selected, and says why', async () => {
    const { page } = await show('/console/deliveries', { refused: /^409 POST .*\/msg_1\/resend$/ });
    const message = 'the webhook of this delivery is inactive or was removed: activate it first';
    await page.route('**/msg_1/resend', (route) => route.fulfill({ status: 409, json: { success: false, message } }));
    await select(page, 3);
    await resendSelected(page, 3);
    await page.getByText('1 of 3 could not be resent. The webhook is off or was removed. Activate it first.').waitFor();
    await selection(page, 1).waitFor();
    expect(await boxes(page).nth(1).isChecked()).toBe(true);
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('of what has arrived is a question first', async () => {
    const { page } = await show(`/console/deliveries/${DELIVERED}`);
    const resend = page.getByRole('button', { name: 'Resend now' });
    await resend.click();
    const dialog = page.getByRole('dialog', { name: 'Resend this delivery?' });
    await dialog.getByText('It was delivered already: the receiver gets it again').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByText('resent by maria').count()).toBe(0);
    await resend.click();
    await dialog.getByRole('button', { name: 'Resend now' }).click();
    await page.getByText('resent by maria').waitFor();
    await dialog.waitFor({ state: 'detached' });
  });

  /** The service takes the resend, and does not try its URL yet. */
  async function waits(page: Page, mock: MockApi): Promise<void> {
    const resent = ({ outcome, ...delivery }: { outcome: string }) => ({
      ...delivery,
      outcome: outcome === 'delivered' ? outcome : 'retrying',
      sentAgain: true,
      nextAttemptAt: null,
      waitingFor: outcome === 'delivered' ? null : 'queue',
    });
    await page.route('**/resend', async (route) => {
      mock.altered = (body) => {
        const { delivery } = Object(body);
        return delivery ? { delivery: resent(delivery) } : body;
      };
      await route.fulfill({ status: 202, json: { success: true, message: 'resending' } });
    });
  }

  it('to a URL that is failing says what it waits for, and does not say that it is being sent', async () => {
    const { page, mock } = await show(null);
    await waits(page, mock);
    await page.goto(mock.link(`/console/deliveries/${GIVEN_UP}`));
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByRole('status').getByText(WAITS).waitFor();
    await page.locator('.step').filter({ hasText: 'Attempt 5 follows' }).getByText(WAITS).waitFor();
    await page.getByText('It was sent again, and waits for that attempt.').waitFor();
    expect(await page.getByRole('button', { name: 'Resend now' }).isEnabled()).toBe(true);
    expect(await page.getByText('by ourselves').count()).toBe(0);
  });

  it('of what had arrived says so too, once its URL is failing', async () => {
    const { page, mock } = await show(null);
    await waits(page, mock);
    await page.goto(mock.link('/console/deliveries/msg_1'));
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend now' }).click();
    await page.locator('.step').filter({ hasText: 'Attempt 2 follows' }).getByText(WAITS).waitFor();
    await page.getByText('Accepted by the receiver at the first attempt.').waitFor();
  });

  it.each([
    ['failing', 1],
    ['healthy', 0],
  ])('of a selection says what a failing URL does to it, where one is %s', async (state, count) => {
    const { page, mock } = await show(null);
    await page.route('**/api/webhooks/health', async (route) => {
      const response = await route.fetch();
      const { webhooks } = (await response.json()) as { webhooks: object[] };
      await route.fulfill({ response, json: { webhooks: webhooks.map((one) => ({ ...one, state })) } });
    });
    await page.goto(mock.link('/console/deliveries'));
    await select(page, 1);
    const known = page.waitForResponse('**/api/webhooks/health');
    await page.getByRole('button', { name: 'Resend 1' }).click();
    await known;
    const dialog = page.getByRole('dialog', { name: 'Resend 1 delivery?' });
    const said = 'Where a URL is failing, the attempt follows as soon as the URL is tried again.';
    await dialog.getByText('Each gets one more attempt, under its webhook-id.').waitFor();
    if (count > 0) await dialog.getByText(said).waitFor();
    expect(await dialog.getByText(said).count()).toBe(count);
    await dialog.getByRole('button', { name: 'Resend 1' }).click();
    await page.getByText(count > 0 ? `1 delivery is on its way. ${said}` : /^1 delivery is on its way\.$/).waitFor();
  });
});
