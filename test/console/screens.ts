/** The console's screens as the mock API shows them: what holds for each screen is tested over these tables. */
import type { Page } from 'playwright-core';
import type { MockApi } from './mock-api.js';

export interface Screen {
  readonly name: string;
  readonly path: string;
  /** Selector of what stands there once its data has come. */
  readonly shown: string;
  /** Selector of what opens it from there, as a dialog. */
  readonly button?: string;
}

/** Given up after four attempts. */
export const GIVEN_UP = 'msg_6';

export const SCREENS: readonly Screen[] = [
  { name: 'Overview', path: '/console', shown: '.problem .url' },
  { name: 'Payments', path: '/console/payments', shown: '.destinations .url' },
  { name: 'Delivery', path: `/console/deliveries/${GIVEN_UP}`, shown: '.step pre.code:visible' },
  { name: 'Webhooks', path: '/console/webhooks', shown: 'a .url, .url' },
  { name: 'Webhook', path: '/console/webhooks/101', shown: '.url' },
  { name: 'History', path: '/console/history', shown: 'tbody .url' },
  { name: 'Security', path: '/console/security', shown: 'tbody tr' },
  { name: 'Recover', path: '/console', shown: '.problem .url', button: '.problem.bad button:not(.primary)' },
];

const FOUR_DAYS_AGO = new Date(Date.now() - 345_600_000).toISOString();

/** The same with other things on them. */
export const OTHER_LOOKS: readonly Screen[] = [
  { name: 'a URL that is off', path: '/console/webhooks/105', shown: '.problem' },
  { name: 'a new webhook', path: '/console/webhooks', shown: 'tbody tr', button: '.screen-head .button.primary' },
  { name: 'an edited URL', path: '/console/webhooks/101?edit=1', shown: 'dialog footer' },
  { name: 'the list as it stood', path: `/console/history?at=${FOUR_DAYS_AGO}`, shown: '#past tbody tr' },
];

export async function showScreen(page: Page, mock: MockApi, { path, shown, button }: Screen): Promise<void> {
  await page.goto(mock.link(path));
  await page.locator(shown).first().waitFor();
  if (!button) return;
  await page.locator(button).first().click();
  await page.getByRole('dialog').locator('footer').waitFor();
}
