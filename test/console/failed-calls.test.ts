/** What the page says, and what its user can do, where a call of the service fails. */
import type { Page, Route } from 'playwright-core';
import { describeOnDay } from './day.js';

const SESSION = '**/console/session';
/** By the tests themselves, and what was under way. */
const REFUSED = { refused: / \/(console\/session(\/preview)?|api\/.*)$/ };
const REFUSED_CHANGE = { refused: / (POST|DELETE) \/api\// };
const IN_PORTUGUESE = { ...REFUSED, locale: 'pt-BR' };
const PREVIEW = /\/recover\?/;

describeOnDay('the console', (show) => {
  it('signs in by its link again where no answer came', async () => {
    const { page, day } = await show(null, REFUSED);
    await page.route(SESSION, (route) => route.abort());
    await page.goto(await day.link());
    await page.getByRole('heading', { name: 'The service does not answer' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.unroute(SESSION);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('maria').waitFor();
  });

  it('says why deliveries could not be counted before a recovery, and counts again', async () => {
    const { page, day } = await show(null, REFUSED);
    await page.route(PREVIEW, (route) => route.fulfill({ status: 500, json: { success: false, message: 'no count' } }));
    await page.goto(await day.link());
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const preview = page.getByRole('dialog').locator('output');
    await preview.filter({ hasText: 'no count' }).waitFor();
    await page.unroute(PREVIEW);
    await preview.getByRole('button', { name: 'Try again' }).click();
    await preview.filter({ hasText: /Sends [1-9]/ }).waitFor();
  });

  it('says in Portuguese what a refusal is about, with its parameters', async () => {
    const { page, day } = await show(null, IN_PORTUGUESE);
    const json = { success: false, message: 'too often', code: 'sent-too-often', params: { limit: 20 } };
    await page.route('**/resend', (route) => route.fulfill({ status: 409, json }));
    await page.goto(await day.link(`/deliveries/${await day.delivery('/notify', 'exhausted')}`));
    await page.getByRole('button', { name: 'Reenviar agora' }).first().click();
    await page.getByText('A entrega já foi reenviada 20 vezes, que é o limite.').first().waitFor();
  });

  it('keeps what it shows, with its time, while the service fails, and moves on when it is back', async () => {
    const { page, day } = await show('/history', REFUSED);
    await page.getByRole('link', { name: 'Webhook changed' }).waitFor();
    day.proxy.fault = { status: 503 };
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.getByText(/The service answers 503. Shown as of/).waitFor();
    expect(await page.getByRole('link', { name: 'Webhook changed' }).count()).toBe(1);
    day.proxy.fault = null;
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await page.getByText('Up to date').first().waitFor();
  });

  it.each(['/payments', '/deliveries', '/history'])(
    'says of the screen at "%s" that the service does not answer within 10 s, and tries again by itself',
    async (path) => {
      const { page, day } = await show('/security');
      const shown = path === '/deliveries' ? `${path}/${await day.delivery('/notify', 'exhausted')}` : path;
      await page.getByText('maria').first().waitFor();
      day.proxy.fault = { status: 0 };
      await page.evaluate(
        `history.pushState(null, '', '/console${shown}'); dispatchEvent(new PopStateEvent('popstate'))`,
      );
      await page.locator('.skeleton').first().waitFor();
      await page.getByText('The service does not answer.').first().waitFor();
      day.proxy.fault = null;
      await page.locator('main h1, main h2').first().waitFor();
    },
  );

  it('shows the text selected if the browser does not copy, and removes it when it loses the focus', async () => {
    const { page, day } = await show(null);
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    const path = `/deliveries/${await day.delivery('/notify', 'exhausted')}`;
    await page.goto(await day.link(path));
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The browser does not allow copying here. The text is selected').waitFor();
    const text = page.getByRole('textbox', { name: 'Copy link' });
    expect(await page.evaluate<string>('getSelection().toString()')).toMatch(new RegExp(`/console${path}$`));
    await text.blur();
    await text.waitFor({ state: 'detached' });
  });

  it('says once and for all what is wrong in an address', async () => {
    const { page, day } = await show(null, { refused: /^400 GET / });
    await page.clock.install();
    const asked: string[] = [];
    await page.route('**/api/events?*', (route) => {
      asked.push(route.request().url());
      return route.fulfill({ status: 400, json: { success: false, message: 'this is not taken' } });
    });
    await page.goto(await day.link('/payments?status=9xx'));
    await page.getByText('this is not taken').first().waitFor();
    await page.clock.runFor(90_000);
    expect(asked).toHaveLength(1);
  });

  it('asks again after a change where the answer that was on its way is from before it', async () => {
    const { page, day } = await show(null);
    await page.goto(await day.link(`/webhooks/${(await day.webhook('/erp')).id}`));
    const activate = page.getByRole('button', { name: 'Activate' }).first();
    await activate.waitFor();
    const held: Route[] = [];
    await page.route('**/api/webhooks', (route) => void held.push(route));
    const isAsked = page.waitForRequest('**/api/webhooks');
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await isAsked;
    await activate.click();
    await page.getByText('Active again. What it did not get can be recovered.').filter({ visible: true }).waitFor();
    const isAskedAgain = page.waitForRequest('**/api/webhooks');
    for (const route of held) await route.continue();
    await isAskedAgain;
  });

  describe('in a dialog', () => {
    const UNKNOWN = 'It is not known whether';
    it.each([
      ['has no answer', null, UNKNOWN],
      ['is answered 502', 502, UNKNOWN],
      ['is answered 503', 503, UNKNOWN],
      ['is refused', 403, 'No secret was issued.'],
    ])('of a rotation that %s says whether a secret may have been issued', async (_, status, text) => {
      const { page } = await show('/security', REFUSED_CHANGE);
      await page.route('**/api/signing-secrets', (route) => {
        if (route.request().method() === 'GET') return route.fallback();
        return status ? route.fulfill({ status, json: {} }) : route.abort();
      });
      await page.getByRole('button', { name: 'Rotate…' }).click();
      await page.getByRole('button', { name: 'Issue a new secret' }).click();
      await page.getByRole('dialog').getByRole('alert').getByText(text).waitFor();
    });

    it('of stopping a recovery is said in front of it, and once', async () => {
      const { page, day } = await show(null, REFUSED_CHANGE);
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
});

/** By the browser: what it would hit there, if the toast took the pointer. */
const isInFront = (page: Page) =>
  page.evaluate<boolean>(`{
    const toast = document.querySelector('dialog .toast p');
    toast.style.pointerEvents = 'auto';
    const { left, top, width, height } = toast.getBoundingClientRect();
    toast.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }`);
