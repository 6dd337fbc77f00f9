/** Keyboard alone, reduced motion, narrow and wide windows, themes, languages and axe, over every screen. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { findBrowser, launch, openPage, seriousFindings, type WatchedPage } from './browser.js';
import { type MockApi, startMockApi } from './mock-api.js';
import { SCREENS, type Screen, show } from './screens.js';

const WIDTHS = [390, 768, 1280, 1920];
const MOST_TABS = 120;
/** Waits for its third attempt. */
const WAITING = 'msg_3';

const executable = findBrowser();

if (executable) describe('the console', () => tests(executable));
else it.skip('NO CHROMIUM: THE CONSOLE IS NOT TRIED. SET CHROMIUM TO ITS PATH', () => undefined);

function tests(executablePath: string): void {
  let browser: Browser;
  let mock: MockApi;
  let opened: WatchedPage;

  beforeAll(async () => {
    browser = await launch(executablePath);
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    mock = await startMockApi(1_000);
  });
  afterEach(async () => {
    await opened.context.close();
    await mock.close();
    expect(opened.wrongs).toEqual([]);
  });

  async function open(options: BrowserContextOptions = {}): Promise<Page> {
    opened = await openPage(browser, options);
    return opened.page;
  }

  describe('by keyboard alone', () => {
    it('leads from a problem to a payment that is resent', async () => {
      const page = await open();
      await page.goto(mock.link());
      await page.getByRole('heading', { level: 1 }).waitFor();
      await press(page, page.getByRole('link', { name: /^Given up/ }));
      await press(page, page.getByRole('link', { name: 'Cash out' }).first());
      await press(page, page.getByRole('button', { name: 'Resend now' }));
      await page.getByText('resent by maria').waitFor();
    });

    it('skips the rail', async () => {
      const page = await open();
      await page.goto(mock.link());
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.locator('main:focus').waitFor();
    });

    it.each([
      ['Escape', (page: Page) => page.keyboard.press('Escape')],
      ['the button that keeps', (page: Page) => press(page, page.getByRole('button', { name: 'Keep waiting' }))],
      ['the button that closes', (page: Page) => press(page, page.getByRole('button', { name: 'Close' }))],
    ])('has the focus back where a dialog was opened, closed by %s', async (_by, close) => {
      const page = await open();
      await page.goto(mock.link(`/console/deliveries/${WAITING}`));
      const opener = page.getByRole('button', { name: 'Cancel…' });
      await press(page, opener);
      await page.locator('dialog :focus').waitFor();
      await close(page);
      await page.locator('dialog').waitFor({ state: 'detached' });
      await focused(opener);
    });

    it('recovers', async () => {
      const page = await open();
      await page.goto(mock.link());
      await press(page, page.getByRole('button', { name: 'Recover…' }).first());
      await page.locator('dialog :focus').waitFor();
      await press(page, page.getByRole('button', { name: /^Send [1-9]/ }));
      await press(page, page.getByRole('button', { name: 'Stop' }));
      await page.getByRole('dialog').getByText('Stopped', { exact: true }).waitFor();
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
    });
  });

  describe('where motion is to be reduced', () => {
    it.each(SCREENS.map((screen): [string, Screen] => [screen.name, screen]))('has none on %s', async (_, screen) => {
      const page = await open({ reducedMotion: 'reduce' });
      await show(page, mock, screen);
      expect(await animations(page)).toBe(0);
    });

    it.each([
      ['has none', 'reduce', false],
      ['has some elsewhere', 'no-preference', true],
    ] as const)('%s while it loads', async (_, reducedMotion, isMoving) => {
      const page = await open({ reducedMotion });
      mock.fault = { status: 0 };
      await page.goto(mock.link());
      await page.locator('.skeleton').first().waitFor();
      expect((await animations(page)) > 0).toBe(isMoving);
    });
  });

  const looks = [
    ['light', 'en-GB'],
    ['dark', 'pt-BR'],
  ] as const;
  const rows = looks.flatMap(([theme, locale]) =>
    SCREENS.map((screen) => [screen.name, theme, locale, screen, theme] as const),
  );

  it.each(rows)(
    'fits %s in each window and passes axe, in %s and %s',
    async (_, _theme, locale, screen, colorScheme) => {
      const page = await open({ colorScheme, locale });
      await show(page, mock, screen);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect({ width, outside: await outside(page) }).toEqual({ width, outside: [] });
      }
      await page.setViewportSize({ width: 1280, height: 900 });
      expect(await seriousFindings(page)).toEqual([]);
    },
  );
}

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

const animations = (page: Page) => page.evaluate<number>('document.getAnimations().length');

/** The width of the page where it is wider than its window, and that of an open dialog. */
const outside = (page: Page) =>
  page.evaluate<string[]>(`[document.documentElement, ...document.querySelectorAll('dialog[open], dialog[open] .modal')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ tagName, className, scrollWidth, clientWidth }) =>
      [tagName, className, scrollWidth, 'in', clientWidth].join(' '))`);
