/** The console's screens as the day of history shows them: what holds for each screen is tested over these tables. */
import type { Page } from 'playwright-core';
import { HOUR_MS } from '../../src/cli/demo/story.js';
import type { Day } from './day.js';

export interface Screen {
  readonly name: string;
  readonly path: string;
  /** Selector of what stands there once its data has come. */
  readonly shown: string;
  /** Selector of what opens it from there, as a dialog. */
  readonly button?: string;
}

const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();

/** Of a page that has signed in. */
export const screensOf = async (day: Day): Promise<readonly Screen[]> => [
  { name: 'Overview', path: '/console', shown: '.problem .url' },
  { name: 'Payments', path: '/console/payments', shown: '.destinations .url' },
  {
    name: 'Delivery',
    path: `/console/deliveries/${await day.delivery('/notify', 'exhausted')}`,
    shown: '.step pre.code:visible',
  },
  { name: 'Webhooks', path: '/console/webhooks', shown: 'a .url, .url' },
  { name: 'Webhook', path: `/console/webhooks/${(await day.webhook('/ledger')).id}`, shown: '.url' },
  { name: 'History', path: '/console/history', shown: 'tbody .url' },
  { name: 'Security', path: '/console/security', shown: 'tbody tr' },
  { name: 'Recover', path: '/console', shown: '.problem .url', button: '.problem.bad button:not(.primary)' },
];

/** The same with other things on them. */
export const otherLooksOf = async (day: Day): Promise<readonly Screen[]> => [
  { name: 'a URL that is off', path: `/console/webhooks/${(await day.webhook('/erp')).id}`, shown: '.problem' },
  { name: 'a new webhook', path: '/console/webhooks', shown: 'tbody tr', button: '.screen-head .button.primary' },
  {
    name: 'an edited URL',
    path: `/console/webhooks/${(await day.webhook('/ledger')).id}?edit=1`,
    shown: 'dialog footer',
  },
  { name: 'the list as it stood', path: `/console/history?at=${hoursAgo(12)}`, shown: '#past tbody tr' },
];

export async function showScreen(page: Page, day: Day, { path, shown, button }: Screen): Promise<void> {
  await page.goto(day.proxy.url + path);
  await page.locator(shown).first().waitFor();
  if (!button) return;
  await page.locator(button).first().click();
  await page.getByRole('dialog').locator('footer').waitFor();
}
