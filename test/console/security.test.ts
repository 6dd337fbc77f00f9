/** A rotation of the signing secret that fails, and failures while a dialog is open. */
import type { Page } from 'playwright-core';
import { describeOnDay } from './day.js';

const REFUSED = { refused: / (POST|DELETE) \/api\// };

describeOnDay('a failure in a dialog', (show) => {
  const UNKNOWN = 'It is not known whether';
  it.each([
    ['has no answer', null, UNKNOWN],
    ['is answered 502', 502, UNKNOWN],
    ['is answered 503', 503, UNKNOWN],
    ['is refused', 403, 'No secret was issued.'],
  ])('of a rotation that %s says whether a secret may have been issued', async (_, status, text) => {
    const { page } = await show('/security', REFUSED);
    await page.route('**/api/signing-secrets', (route) => {
      if (route.request().method() === 'GET') return route.fallback();
      return status ? route.fulfill({ status, json: {} }) : route.abort();
    });
    await page.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByRole('button', { name: 'Issue a new secret' }).click();
    await page.getByRole('dialog').getByRole('alert').getByText(text).waitFor();
  });

  it('of stopping a recovery is said in front of it, and once', async () => {
    const { page, day } = await show(null, REFUSED);
    await day.recovering('/crm', { state: 'running' });
    await page.route('**/api/recoveries/*', (route) =>
      route.request().method() === 'GET' ? route.fallback() : route.fulfill({ status: 503, json: {} }),
    );
    await page.goto(await day.link());
    await page.getByRole('button', { name: 'See progress' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    // All that is outside of an open dialog is inert: no screen reader says it, and its backdrop covers it.
    await page.locator('dialog:modal [role=status]').getByText('This could not be done.').waitFor();
    expect(await isInFront(page)).toBe(true);
    expect(await page.getByText('This could not be done.').filter({ visible: true }).count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.locator('.frame ~ .toast').getByText('This could not be done.').waitFor();
  });
});

/** By the browser: what it would hit there, if the toast took the pointer. */
const isInFront = (page: Page) =>
  page.evaluate<boolean>(`{
    const toast = document.querySelector('dialog .toast p');
    toast.style.pointerEvents = 'auto';
    const { left, top, width, height } = toast.getBoundingClientRect();
    toast.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }`);
