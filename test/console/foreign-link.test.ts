/** A link cannot sign a browser in to someone else's account unnoticed. */
import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { opened } from '../support/clients/portal-session.js';
import { describeInBrowser, type Opening, seriousFindings } from './browser.js';
import { served } from './served.js';

const PORTAL = 'https://portal.example.com';
const OTHER_PORTAL = 'https://other-portal.example.com';
const ATTACKER = 'https://attacker.example.com';
/** Browsers omit the referrer from https to http, which only this test does. */
const SENT_REFERRER = { 'referrer-policy': 'unsafe-url' };

describeInBrowser('a link with the code of a session', (open) => {
  const { account, enter } = served(open, { CONSOLE_FRAME_ANCESTORS: PORTAL });

  const question = (page: Page) => page.getByRole('heading', { name: /^Sign in to account \d+\?$/ });
  const overview = (page: Page) => page.getByRole('heading', { name: 'Overview' });

  /** Follows the link on a page of another origin. */
  async function follow(page: Page, origin: string, url: string): Promise<void> {
    await page.route(`${origin}/**`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        headers: SENT_REFERRER,
        body: `<!doctype html><a href="${url}">Console</a>`,
      }),
    );
    await page.goto(`${origin}/page`);
    await page.getByRole('link').click();
  }

  it('asks a browser that was never signed in, and shows account and user', async () => {
    const theirs = await account();
    const page = await open({ isNew: true });
    await follow(page, ATTACKER, (await opened(theirs, { user: 'mallory', returnUrl: `${ATTACKER}/page` })).url);
    await question(page).waitFor();
    await page.getByText('mallory').waitFor();
    await page.getByText(String(theirs.credential.accountId), { exact: true }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await page.getByRole('button', { name: 'Do not sign in' }).click();
    await page.getByRole('heading', { name: /^Open the console from/ }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it('signs in after the question, by keyboard alone, and does not ask this browser again', async () => {
    const ours = await account();
    const page = await open({ isNew: true });
    await page.goto((await opened(ours, { user: 'ana' })).url);
    await question(page).waitFor();
    await page.locator('button:enabled', { hasText: /^Sign in$/ }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await overview(page).waitFor();
    await page.goto('about:blank');
    await page.goto((await opened(ours, { user: 'ana' })).url);
    await overview(page).waitFor();
  });

  it('asks a user who works in another account, and returns there if it is declined', async () => {
    const [ours, theirs] = [await account(), await account()];
    const page = await enter(ours, { user: 'maria' });
    await follow(page, ATTACKER, (await opened(theirs, { user: 'mallory', returnUrl: `${ATTACKER}/page` })).url);
    await question(page).waitFor();
    await page.getByRole('button', { name: 'Do not sign in' }).click();
    await overview(page).waitFor();
    await page.locator('.user-name').getByText('maria').waitFor();
  });

  it('asks for another account once the session of the last one has expired', async () => {
    const [ours, theirs] = [await account(), await account()];
    const page = await open({ isNew: true, refused: /^401 GET \/console\/session$/ });
    await page.goto((await opened(ours, { user: 'maria' })).url);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await overview(page).waitFor();
    // Later calls of the page would get 401.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await follow(page, ATTACKER, (await opened(theirs, { user: 'mallory', returnUrl: `${ATTACKER}/page` })).url);
    await question(page).waitFor();
    await follow(page, ATTACKER, (await opened(ours, { user: 'maria' })).url);
    await overview(page).waitFor();
  });

  it('asks if a page that a trusted origin led to is reloaded with a code in its address', async () => {
    const [ours, theirs] = [await account(), await account()];
    const page = await open();
    await page.goto((await opened(ours, { user: 'maria' })).url);
    await overview(page).waitFor();
    await follow(page, PORTAL, (await opened(ours, { user: 'joana' })).url);
    await page.locator('.user-name').getByText('joana').waitFor();
    const { hash } = new URL((await opened(theirs, { user: 'mallory' })).url);
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.reload();
    await question(page).waitFor();
  });

  it('leaves a page that opened the console no handle of its window', async () => {
    const ours = await account();
    const page = await open({ isNew: true });
    await follow(page, ATTACKER, `${ATTACKER}/page`);
    const { url } = await opened(ours, { user: 'maria' });
    const opening = page.context().waitForEvent('page');
    await page.evaluate(`globalThis.opened = open(${JSON.stringify(url)})`);
    const popup = await opening;
    await question(popup).waitFor();
    expect(await page.evaluate('opened.closed')).toBe(true);
    expect(await popup.evaluate('opener')).toBeNull();
  });

  it('cannot be answered before its page has been in front for a while', async () => {
    const theirs = await account();
    const page = await open({ isNew: true });
    await page.clock.install();
    await page.goto((await opened(theirs, { user: 'mallory' })).url);
    await question(page).waitFor();
    const signIn = page.getByRole('button', { name: 'Sign in', exact: true });
    await page.clock.pauseAt(Date.now() + 3_600_000);
    await page.locator('button:enabled', { hasText: /^Sign in$/ }).waitFor();
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await page.locator('button:disabled', { hasText: /^Sign in$/ }).waitFor();
    await signIn.click({ force: true });
    await page.clock.runFor(599);
    expect(await signIn.isDisabled()).toBe(true);
    await page.clock.runFor(1);
    await page.locator('button:enabled', { hasText: /^Sign in$/ }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
  });

  it.each([
    ['in CONSOLE_FRAME_ANCESTORS', PORTAL],
    ['of the returnUrl of the open session', OTHER_PORTAL],
  ])('is followed without a question from an origin %s', async (_, origin) => {
    const [ours, second] = [await account(), await account()];
    const page = await open();
    await page.goto((await opened(ours, { user: 'maria', returnUrl: `${OTHER_PORTAL}/webhooks` })).url);
    await overview(page).waitFor();
    await follow(page, origin, (await opened(second, { user: 'second' })).url);
    await page.locator('.user-name').getByText('second').waitFor();
  });

  it.each(['en-GB', 'pt-BR'])('asks legibly at every size, in both themes, in %s', async (locale) => {
    const theirs = await account();
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 1280]) {
        const opening: Opening = { isNew: true, locale, colorScheme, viewport: { width, height: 800 } };
        const page = await open(opening);
        await page.goto((await opened(theirs, { user: 'Joana Lima da Silva' })).url);
        await page.getByText('Joana Lima da Silva').waitFor();
        expect(await seriousFindings(page)).toEqual([]);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await picture(page, `asking-${locale}-${colorScheme}-${width}`);
        await page.getByRole('button').last().click();
        await page.getByText('Joana Lima da Silva').locator('visible=true').first().waitFor();
        await page
          .getByText(new RegExp(`(Account|Conta) ${theirs.credential.accountId}`))
          .locator('visible=true')
          .first()
          .waitFor();
        expect(await seriousFindings(page)).toEqual([]);
        await picture(page, `signed-in-${locale}-${colorScheme}-${width}`);
        await page.close();
      }
    }
  });
});

/** Where SCREENSHOTS names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
}
