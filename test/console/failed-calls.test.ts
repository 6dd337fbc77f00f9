/** What the page says, and what its user can do, where a call of the service fails. */
import type { Page } from 'playwright-core';
import { describeOnMock } from './on-mock.js';

const SESSION = '**/console/session';
/** By the tests themselves. */
const REFUSED = { refused: / \/(console\/session|api\/webhooks.*)$/ };
/** Also what was under way when the session ended. */
const SIGNED_OUT = { refused: / \/(console\/session|api\/.*)$/ };
const IN_PORTUGUESE = { locale: 'pt-BR', refused: / \/api\// };
const PREVIEW = /\/recover\?/;

describeOnMock('the console', (show) => {
  it('signs in by its link again where no answer came', async () => {
    const { page, mock } = await show(null, REFUSED);
    await page.route(SESSION, (route) => route.abort());
    await page.goto(mock.link());
    await page.getByRole('heading', { name: 'The service does not answer' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await page.unroute(SESSION);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('maria').waitFor();
  });

  describe('signing out', () => {
    const signOut = async (page: Page) => {
      await page.locator('button.user').click();
      await page.getByRole('button', { name: 'Sign out' }).click();
    };

    it.each([
      ['without an answer', null],
      ['with 503', 503],
    ])('says that the session is still open where its end fails %s, and tries again', async (_, status) => {
      const { page, mock } = await show(null, SIGNED_OUT);
      await page.goto(mock.link());
      await page.getByText('maria').waitFor();
      await page.route(SESSION, (route) => (status ? route.fulfill({ status, json: {} }) : route.abort()));
      await signOut(page);
      await page.getByRole('alert').filter({ hasText: 'You are still signed in' }).waitFor();
      await page.unroute(SESSION);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'You signed out' }).waitFor();
      expect(
        await page.evaluate(
          'fetch("/api/webhooks", { headers: { "x-console": "ps_mine" } }).then(({ status }) => status)',
        ),
      ).toBe(401);
    });

    it('signs out of a session that the service no longer has', async () => {
      const { page, mock } = await show(null, SIGNED_OUT);
      await page.goto(mock.link());
      await page.getByText('maria').waitFor();
      await page.route(SESSION, (route) => route.fulfill({ status: 401, json: {} }));
      await signOut(page);
      await page.getByRole('heading', { name: 'You signed out' }).waitFor();
    });

    it.each([
      ['https://portal.example.com/home', 1],
      ['http://portal.example.com/home', 0],
      ['javascript:globalThis.hostileRan=true', 0],
      ['/console', 0],
    ])('with the return URL %s shows %d links', async (returnUrl, links) => {
      const { page, mock } = await show(null, SIGNED_OUT);
      await page.route(SESSION, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...(await response.json()), returnUrl } });
      });
      await page.goto(mock.link());
      await page.getByText('maria').waitFor();
      await signOut(page);
      await page.getByRole('heading', { name: 'You signed out' }).waitFor();
      expect(await page.getByRole('link').count()).toBe(links);
    });
  });

  it('says why deliveries could not be counted before a recovery, and counts again', async () => {
    const { page, mock } = await show(null, REFUSED);
    await page.route(PREVIEW, (route) => route.fulfill({ status: 500, json: { success: false, message: 'no count' } }));
    await page.goto(mock.link());
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const preview = page.getByRole('dialog').locator('output');
    await preview.filter({ hasText: 'no count' }).waitFor();
    await page.unroute(PREVIEW);
    await preview.getByRole('button', { name: 'Try again' }).click();
    await preview.filter({ hasText: 'Sends 3,612 deliveries' }).waitFor();
  });

  describe('in Portuguese', () => {
    it('says a refusal in its own words', async () => {
      const { page, mock } = await show(null, IN_PORTUGUESE);
      const message = 'the webhook of this delivery is inactive or was removed: activate it first';
      await page.route('**/resend', (route) => route.fulfill({ status: 409, json: { success: false, message } }));
      await page.goto(mock.link('/console/deliveries/msg_6'));
      await page.getByRole('button', { name: 'Reenviar agora' }).click();
      await page.getByRole('status').getByText('O webhook está desligado ou foi removido. Ative-o antes.').waitFor();
    });

    it('says errors of fields in its own words, beside the fields', async () => {
      const { page, mock } = await show(null, IN_PORTUGUESE);
      const message = 'the host of url must not be a reserved name (local).';
      const json = { success: false, message, errors: [{ field: 'url', message }] };
      await page.route('**/api/webhooks', (route) =>
        route.request().method() === 'POST' ? route.fulfill({ status: 400, json }) : route.fallback(),
      );
      await page.goto(mock.link('/console/webhooks'));
      await page.getByRole('button', { name: 'Adicionar webhook' }).click();
      await page.getByRole('dialog').getByLabel('URL', { exact: true }).fill('https://hooks.local');
      await page.getByRole('dialog').locator('button[value=save]').click();
      await page.getByRole('alert').getByText('O host precisa ser público: “local” é um nome reservado.').waitFor();
    });

    it('says what changed in its own words', async () => {
      const { page, mock } = await show(null, IN_PORTUGUESE);
      await page.goto(mock.link('/console/history'));
      await page.getByText('para maria: ler').first().waitFor();
      expect(await page.locator('main').textContent()).toContain('cabeçalhos adicionados: X-Api-Key');
    });
  });

  it('says of each part of a webhook that its call fails', async () => {
    const { page, mock } = await show(null, { refused: /^503 GET \/api\/(stats|deliveries|history)$/ });
    await page.route(/\/api\/(stats|deliveries|history)\?/, (route) => route.fulfill({ status: 503, json: {} }));
    await page.goto(mock.link('/console/webhooks/101'));
    await page.getByText('The service answers 503').nth(2).waitFor();
  });

  it('says that deliveries could not be counted where no answer comes', async () => {
    const { page, mock } = await show(null, REFUSED);
    await page.route(PREVIEW, (route) => route.abort());
    await page.goto(mock.link());
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    await page.getByRole('dialog').getByText('The deliveries could not be counted.').waitFor();
  });

  it('counts for a recovery, and goes on, while a year of five digits is typed', async () => {
    const { page, mock } = await show(null, REFUSED);
    await page.goto(mock.link());
    await page.getByRole('button', { name: 'Recover…' }).first().click();
    const since = page.getByRole('dialog').getByLabel('Published since');
    await since.fill('20261-01-01T00:00');
    await since.fill('2026-01-01T00:00');
    await page.getByRole('dialog').locator('output').filter({ hasText: 'Sends 3,612 deliveries' }).waitFor();
  });

  it('says that a webhook cannot be shown while the API fails', async () => {
    const { page, mock } = await show(null, { refused: /^503 GET \/api\// });
    mock.fault = { status: 503 };
    await page.goto(mock.link('/console/webhooks/101'));
    await page.getByText('The service answers 503.').first().waitFor();
  });

  it('says that the browser does not copy where there is no clipboard', async () => {
    const { page, mock } = await show(null);
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.goto(mock.link('/console/deliveries/msg_6'));
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByText('The browser does not allow copying here.').waitFor();
    const selected = await page.evaluate(
      'getSelection().toString() || document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
    );
    expect(selected).toBe(page.url());
  });

  it.each([
    ['deliveries?status=9xx', '/api/deliveries?'],
    ['events?from=soon', '/api/events?'],
    ['history?at=2130-01-01T00:00:00.000Z', '/api/webhooks?'],
  ])('says once and for all what is wrong in the address %s', async (address, path) => {
    const { page, mock } = await show(null, { refused: /^400 GET / });
    await page.clock.install();
    const asked: string[] = [];
    const errors = [{ field: 'x', message: 'this is not taken' }];
    await page.route(
      ({ href }) => href.includes(path),
      (route) => {
        asked.push(route.request().url());
        return route.fulfill({ status: 400, json: { success: false, message: 'this is not taken', errors } });
      },
    );
    await page.goto(mock.link(`/console/${address}`));
    await page.getByText('this is not taken').first().waitFor();
    const before = asked.length;
    await page.clock.runFor(90_000);
    // What a timer asked for comes before this.
    await page.evaluate(`fetch('${path}last')`);
    expect(asked.length - before).toBe(1);
    expect(await page.locator('.skeleton').count()).toBe(0);
  });

  it('asks again after a change where the answer that was on its way is from before it', async () => {
    const { page } = await show('/console/webhooks/105');
    const activate = page.getByRole('button', { name: 'Activate' }).first();
    await activate.waitFor();
    let release: () => void = () => undefined;
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/api/webhooks', async (route) => {
      await isReleased;
      await route.fallback();
    });
    await page.route('**/api/webhooks/105', (route) =>
      route.fulfill({ json: { success: true, message: 'activated' } }),
    );
    const isAsked = page.waitForRequest('**/api/webhooks');
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))');
    await isAsked;
    await activate.click();
    await page.getByText(/Active again|The webhook is active/).waitFor();
    const isAskedAgain = page.waitForRequest('**/api/webhooks', { timeout: 10_000 });
    release();
    await isAskedAgain;
  });
});
