/** Keyboard alone, narrow and wide windows, themes, languages and axe, over every screen. */
import type { Locator, Page } from 'playwright-core';
import { seriousFindings } from './browser.js';
import { describeOnDay } from './day.js';
import { otherLooksOf, screensOf, showScreen } from './screens.js';

const WIDTHS = [320, 390, 768, 1280, 1920];
const MOST_TABS = 120;

describeOnDay('the console', (show) => {
  describe('by keyboard alone', () => {
    it('skips the rail, and leads from a problem to a payment that is resent', async () => {
      const { page } = await show('/');
      const problem = page.locator('.problem').filter({ hasText: '/notify' });
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.locator('main:focus').waitFor();
      await press(page, problem.getByRole('link', { name: 'See payments' }));
      await press(page, page.getByRole('link', { name: 'MED accepted' }).first());
      await press(page, page.getByRole('button', { name: 'Resend now' }));
      await page.getByText('resent by maria').waitFor();
    });

    it.each([
      ['Escape', (page: Page) => page.keyboard.press('Escape')],
      ['the button that keeps', (page: Page) => press(page, page.getByRole('button', { name: 'Keep waiting' }))],
      ['the button that closes', (page: Page) => press(page, page.getByRole('button', { name: 'Close' }))],
    ])('has the focus back where a dialog was opened, closed by %s', async (_by, close) => {
      const { page, day } = await show(null);
      const waiting = await day.delivery('/crm', 'retrying');
      await page.goto(await day.link(`/deliveries/${waiting}`));
      const opener = page.getByRole('button', { name: 'Cancel…' });
      await press(page, opener);
      await page.locator('dialog :focus').waitFor();
      await close(page);
      await page.locator('dialog').waitFor({ state: 'detached' });
      await focused(opener);
    });
  });

  // One page for all of them: what a context of its own costs each time is the loading of all files.
  it.each([
    ['light', 'en-GB'],
    ['dark', 'pt-BR'],
  ] as const)('fits each window and passes axe, in %s and %s', async (colorScheme, locale) => {
    const { page, day } = await show('/', { colorScheme, locale });
    for (const screen of [...(await screensOf(day)), ...(await otherLooksOf(day))]) {
      await showScreen(page, day, screen);
      const { name } = screen;
      const outside = await outsideOfWindows(page);
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        const small = await page.evaluate<string[]>(SMALL);
        const axe = await seriousFindings(page);
        expect({ name, width, outside, small, axe }).toEqual({ name, width, outside: [], small: [], axe: [] });
      }
    }
  });
});

const focused = (target: Locator) => target.and(target.page().locator(':focus')).waitFor();

/** Tabs to it, and presses Enter. */
async function press(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    if (await target.evaluate((element) => element.matches(':focus'))) return page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
  }
  throw new Error(`no ${MOST_TABS} tabs lead to ${target}`);
}

/** The width of the page where it is wider than a window, and that of an open dialog. */
async function outsideOfWindows(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    found.push(...(await page.evaluate<string[]>(OUTSIDE)));
  }
  return found;
}

/** Targets of less than 24 px. Of a box, its label is one, and of a row's link its row; a sentence's has the height of a line. */
const SMALL = `[...(document.querySelector('dialog[open]') ?? document).querySelectorAll('a, button, input, select, summary')]
  .filter((one) => one.checkVisibility() && !one.matches('p a, .row-link, .skip'))
  .map((one) => one.closest('label') ?? one)
  .filter((one) => Math.min(one.offsetWidth, one.offsetHeight) < 24)
  .map((one) => one.outerHTML.slice(0, 99))`;

const OUTSIDE = `[document.documentElement, ...document.querySelectorAll('dialog[open], dialog[open] .modal')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map(({ tagName, className, scrollWidth, clientWidth }) =>
    [tagName, className, scrollWidth, 'in', clientWidth].join(' '))`;
