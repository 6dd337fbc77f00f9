/** What the people of an account do in the console, on the service itself, with the answers that it gives. */
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import type { Client } from '../support/clients/api-client.js';
import { opened } from '../support/clients/portal-session.js';
import { eventually } from '../support/clocks/eventually.js';
import { type Account, paymentEvents } from '../support/scenes/story.js';
import { clicksOn, describeInBrowser } from './browser.js';
import { RIGHTS, served } from './served.js';

const ANSWER = 'the ledger is closed';

describeInBrowser('on the service itself, a person', (open) => {
  const here = served(open, { RETRY_SCHEDULE: '1h' });
  const { enter, publish, replies } = here;

  const events = ({ credential }: Client<Account>, count: number, prefix?: string) =>
    paymentEvents(credential.accountId, count, prefix);
  const received = (path: string) => here.receiver.requests.filter((request) => request.path === path);

  type Headers = readonly { key: string; value: string }[];

  async function withWebhook(path: string, headers: Headers = []) {
    const account = await here.account();
    await add(account, path, headers);
    return account;
  }

  async function add(account: Client<Account>, path: string, headers: Headers = []): Promise<void> {
    const { status } = await account.post({ url: here.receiver.url + path, eventType: 'cash_in', headers });
    expect(status).toBe(200);
  }

  it('adds a webhook, tests it, and sees a payment arrive on the page that is open', async () => {
    const account = await here.account();
    const page = await enter(account);
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    // The job: where is my signing secret, from an empty account.
    await page.getByText('Your signing secret was shown once').waitFor();
    expect(await clicksOn(page)).toBe(1);
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
    await dialog.getByLabel('URL').fill(`${here.receiver.url}/added`);
    await dialog.getByRole('checkbox', { name: 'Cash in' }).check();
    await dialog.getByRole('checkbox', { name: 'Refund requested' }).check();
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    const saved = page.getByRole('dialog', { name: 'Saved' });
    await saved.getByText(/^The receiver answered 200 in/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).getByText('/added').waitFor();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
    await page.getByRole('row').getByText('Refund requested').waitFor();
    await page.getByRole('link', { name: 'Payments', exact: true }).click();
    await page.getByText('Nothing was published yet').waitFor();
    await publish(events(account, 1));
    const row = page.getByRole('row').filter({ hasText: 'evt-0' });
    await row.getByText('Arrived', { exact: true }).waitFor();
    expect(await clicksOn(page)).toBeGreaterThan(1);
    expect(received('/added')).toHaveLength(2);
  });

  it('corrects the fields of a new webhook, each with its error beside it, and learns why its test failed', async () => {
    replies.set('/refusing', { status: 401 });
    const page = await enter(await withWebhook('/1'), { next: '/webhooks', refused: /^400 POST \/api\/webhooks$/ });
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
    const save = dialog.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await dialog.getByText('eventTypes must have at least 1 entries.').waitFor();
    await dialog.getByRole('checkbox', { name: 'Cash in' }).check();
    await save.click();
    await expectError(page, 'URL', /^url must begin with https/);
    await dialog.getByLabel('URL').fill('https://user:password@localhost/refusing');
    await addHeader(page, 1, 'X-Key', 'one');
    await addHeader(page, 2, 'x-key', 'two');
    await save.click();
    await expectError(page, 'URL', /^url must not contain a user name/);
    await expectError(page, 'Name of header 2', /is repeated/);
    await dialog.getByLabel('URL').fill(`${here.receiver.url}/refusing`);
    await dialog.getByRole('button', { name: 'Remove header 2' }).click();
    await dialog.getByRole('button', { name: 'Save and test' }).click();
    const saved = page.getByRole('dialog', { name: 'Saved' });
    await saved.getByText('The receiver refuses our request.').waitFor();
    await saved.getByText('which header or key it expects').waitFor();
  });

  it('is told which types a URL has, in another spelling too, and which are full', async () => {
    const account = await withWebhook('/there');
    await add(account, '/2');
    const page = await enter(account, { next: '/webhooks' });
    const dialog = page.getByRole('dialog', { name: 'Add a webhook' });
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    await dialog.getByLabel('URL').fill(`${here.receiver.url}/x/../there`);
    await dialog.getByText('This URL receives it already').waitFor();
    expect(await dialog.getByRole('checkbox', { name: 'Cash in' }).isDisabled()).toBe(true);
    await add(account, '/3');
    await page.reload();
    await dialog.getByText('3 of 3 active').waitFor();
    await dialog.getByLabel('URL').fill(`${here.receiver.url}/4`);
    expect(await dialog.getByRole('checkbox', { name: 'Cash in' }).isDisabled()).toBe(true);
    await dialog.getByRole('checkbox', { name: 'Cash out' }).check();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('row').getByText('Cash out').waitFor();
  });

  it('edits the headers of a webhook, pauses it, gets back what it missed in 3 clicks, and removes it', async () => {
    const account = await withWebhook('/edited', [{ key: 'X-Key', value: 'old' }]);
    const page = await enter(account, { next: '/webhooks' });
    await page.locator('a.row-link').click();
    await page.getByRole('button', { name: 'Edit…' }).click();
    expect(await page.getByLabel('Value of header 1').getAttribute('type')).toBe('password');
    await page.getByLabel('Value of header 1').fill('new');
    await addHeader(page, 2, 'X-More', 'more');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('X-Key, X-More').waitFor();
    await publish(events(account, 1, 'edited-'));
    await eventually(() => received('/edited').length === 1);
    expect(received('/edited')[0]?.headers).toMatchObject({ 'x-key': 'new', 'x-more': 'more' });

    await page.getByRole('button', { name: 'Pause…' }).click();
    const question = page.getByRole('dialog', { name: /^Pause this webhook\?/ });
    await question.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused by your account').first().waitFor();
    await publish(events(account, 1, 'paused-'));
    await eventually(async () => {
      const { body } = await account.send('GET', '/api/events?eventId=paused-0');
      return (body as unknown as { events: { notSent: string }[] }).events[0]?.notSent === 'no-webhook';
    });
    await page.goto(`${here.service.url}/console`);
    await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
    await page.getByRole('button', { name: 'Activate' }).click();
    const recovering = page.getByRole('dialog', { name: 'Recover deliveries' });
    await recovering.getByRole('checkbox', { name: /^Missed/, checked: true }).waitFor();
    await recovering.getByRole('button', { name: 'Send 1', exact: true }).click();
    expect(await clicksOn(page)).toBeLessThanOrEqual(3);
    await recovering.getByText('Done', { exact: true }).waitFor();
    expect(received('/edited').map(({ body }) => JSON.parse(body.toString()).id)).toEqual(['edited-0', 'paused-0']);
    await page.keyboard.press('Escape');

    await page.locator('a.row-link').click();
    const dialog = page.getByRole('dialog', { name: 'Remove it?' });
    await page.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No webhooks yet').waitFor();
    expect((await account.list()).total).toBe(0);
  });

  it('moves a URL for all its types, with their headers; one that is paused stays paused', async () => {
    const account = await withWebhook('/left', [{ key: 'X-Key', value: 'kept' }]);
    await account.post({
      url: `${here.receiver.url}/left`,
      eventType: 'refund_in',
      headers: [{ key: 'X-Own', value: '1' }],
    });
    const [{ id } = { id: 0 }] = (await account.list()).webhooks;
    await account.patch(id, { isActive: false });
    const page = await enter(account, { next: `/webhooks/${id}?edit=1` });
    const form = page.getByRole('dialog', { name: 'Edit URL' });
    await form.getByText('Another URL also gets what waits and what is recovered').waitFor();
    await form.getByLabel('URL').fill(`${here.receiver.url}/found`);
    await form.getByRole('button', { name: 'Save and test' }).click();
    await page.getByRole('dialog', { name: 'Saved' }).getByText('The receiver answered 200').waitFor();
    expect(received('/found')).toMatchObject([{ headers: { 'x-key': 'kept' } }]);
    const url = `${here.receiver.url}/found`;
    expect((await account.list()).webhooks).toMatchObject([
      { id, url, isActive: false, headers: { 'X-Key': 'kept' } },
      { url, isActive: true, headers: { 'X-Own': '1' } },
    ]);
  });

  it('activates a URL that answered 410, and recovers what was held, with a stop on the way', async () => {
    const HELD = 150;
    replies.set('/gone', { status: 410 });
    const account = await withWebhook('/gone');
    const page = await enter(account);
    await publish(events(account, 1, 'first-'));
    await page.getByText('Switched off by us').waitFor();
    await publish(events(account, HELD, 'held-'));
    await page.getByText(`${HELD} held`).waitFor();
    expect(await page.getByRole('button', { name: 'Recover…' }).count()).toBe(0);
    await page.getByRole('link', { name: 'See payments' }).click();
    await page.getByRole('row').filter({ hasText: 'held-' }).first().getByText('Held', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).click();

    replies.delete('/gone');
    await page.getByRole('button', { name: 'Activate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Recover deliveries' });
    const givenUp = dialog.getByRole('checkbox', { name: /^Given up/ });
    await givenUp.uncheck();
    await dialog.getByText(`Sends ${HELD} deliveries`).waitFor();
    await givenUp.check();
    await dialog.getByLabel('Speed').selectOption('5');
    await dialog.getByRole('button', { name: `Send ${HELD + 1}` }).click();
    await dialog.getByText(new RegExp(`^[1-9]\\d* of ${HELD + 1}$`)).waitFor();
    await page.reload();
    await page.getByRole('list', { name: 'Recoveries' }).waitFor();
    await page.getByRole('button', { name: 'See progress' }).click();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText('Stopped', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();

    await page.getByRole('button', { name: 'Recover…' }).click();
    // What is left is older than its last success, which was by the first recovery.
    await dialog.getByText('Empty: all that is kept').waitFor();
    await dialog.getByLabel('Speed').selectOption('100');
    await dialog.getByRole('button', { name: /^Send [1-9]/ }).click();
    await dialog.getByText('Done', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    // Its first attempt may have failed within the last 10 minutes.
    await page.locator('.problem').filter({ hasNotText: 'Unsteady' }).waitFor({ state: 'detached' });
    const taken = here.receiver.taken.filter(({ path }) => path === '/gone');
    expect(taken).toHaveLength(HELD + 1);
    expect(new Set(taken.map(({ headers }) => headers['webhook-id'])).size).toBe(HELD + 1);
  });

  it('rotates the signing secret, which is shown once: payments are signed with both', async () => {
    const account = await withWebhook('/signed');
    const page = await enter(account, { next: '/security' });
    await page.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByText('For 24 hours deliveries are signed with the new and the previous secret').waitFor();
    await page.getByRole('button', { name: 'Issue a new secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your new signing secret' });
    const secret = (await dialog.locator('code').textContent()) ?? '';
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    expect(await dialog.locator('code').textContent()).toBe(secret);
    await dialog.getByRole('button', { name: 'I have stored it' }).click();
    await page.locator('[aria-label="Signing secrets"] tbody tr').nth(1).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.reload();
    await page.locator('[aria-label="Signing secrets"] tbody tr').nth(1).waitFor();
    expect(await page.content()).not.toContain(secret);

    await publish(events(account, 1));
    await eventually(() => received('/signed').length === 1);
    const [request] = received('/signed');
    const headers = request?.headers as Record<string, string>;
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const one of [secret, account.credential.signingSecret]) new Webhook(one).verify(request?.body ?? '', headers);
  });

  it('rotates a secret that has leaked in 5 clicks', async () => {
    const page = await enter(await here.account());
    await page.getByRole('link', { name: 'Security' }).first().click();
    await page.getByRole('button', { name: 'Rotate…' }).click();
    await page.getByRole('checkbox', { name: /^The secret has leaked/ }).check();
    await page.getByRole('button', { name: 'Issue a new secret' }).click();
    await page.getByText('The secrets before sign nothing any more.').waitFor();
    expect(await clicksOn(page)).toBeLessThanOrEqual(5);
  });

  it('sets the URL for notices and tests it in 3 clicks', async () => {
    const page = await enter(await here.account());
    await page.getByRole('link', { name: 'Security' }).first().click();
    await page.getByRole('button', { name: 'Set a URL…' }).click();
    await page.getByRole('dialog').getByLabel('URL').fill(`${here.receiver.url}/notices`);
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText(/^The receiver answered 200 in/).waitFor();
    expect(await clicksOn(page)).toBeLessThanOrEqual(3);
  });

  it('who may only read sees no payload, and no button that would be refused', async () => {
    replies.set('/closed', { status: 500, body: ANSWER });
    replies.set('/off', { status: 410 });
    const account = await withWebhook('/closed');
    await add(account, '/off');
    // No time of the page reads like it: `10.00` stood in one.
    const amount = '98765.43';
    await publish(events(account, 1).replace('10.00', amount));
    const closed = (await account.list()).webhooks.find(({ url }) => url.endsWith('/closed'))?.id;
    const delivery = await eventually(async () => {
      const { body } = await account.send('GET', `/api/deliveries?outcome=retrying&webhookId=${closed}`);
      return (body as unknown as { deliveries: { id: string }[] }).deliveries[0];
    });
    const paths = ['', 'webhooks', `webhooks/${closed}`, 'payments', `deliveries/${delivery.id}`];
    const look = async (can: readonly string[]) => {
      const page = await enter(account, { can });
      const seen = { buttons: [] as string[], text: '', checkboxes: 0 };
      for (const path of [...paths, 'history', 'security']) {
        await page.goto(`${here.service.url}/console/${path}`);
        // The payment comes after its delivery.
        if (path.startsWith('deliveries/')) await page.getByRole('heading', { name: 'Payload' }).waitFor();
        await page.locator('main :is(.url, .step, tbody tr, .notice, p.note)').first().waitFor();
        seen.buttons.push(...(await namesOfActions(page)));
        seen.checkboxes += await page.getByRole('checkbox').count();
        seen.text += await page.content();
      }
      return seen;
    };
    const reader = await look(['read']);
    expect(reader).toMatchObject({ buttons: [], checkboxes: 0 });
    const shown = (text: string) => [ANSWER, amount].filter((part) => text.includes(part));
    expect(shown(reader.text)).toEqual([]);
    const owner = await look(RIGHTS);
    expect(shown(owner.text)).toEqual([ANSWER, amount]);
    expect(owner.buttons).toEqual(
      expect.arrayContaining(['Recover…', 'Activate', 'Add a webhook', 'Resend now', 'Rotate…']),
    );
  });

  it('cancels a delivery that waits, after a question', async () => {
    replies.set('/late', { status: 503 });
    const account = await withWebhook('/late');
    await publish(events(account, 1));
    const page = await enter(account, { next: '/payments' });
    await page.getByRole('link', { name: 'Cash in' }).click();
    await page.getByText('Attempt 2 follows').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await page.getByRole('button', { name: 'Cancel delivery' }).click();
    await page.getByText('Cancelled by the account').waitFor();
  });

  it('signs in by a link once, and not without one', async () => {
    const account = await here.account();
    const { url } = await opened(account, { user: 'maria' });
    const page = await open();
    await page.goto(url);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${here.service.url}/console`);
    const other = await open({ refused: /^40[01] (GET|POST) \/console\/session(\/preview)?$/ });
    await other.goto(url);
    await other.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await other.goto(`${here.service.url}/console/history`);
    await other.getByRole('heading', { name: /^Open the console from/ }).waitFor();
    await page.reload();
    await page.getByText('maria').waitFor();
  });
});

async function addHeader(page: Page, number: number, name: string, value: string): Promise<void> {
  await page.getByRole('button', { name: 'Add header' }).click();
  await page.getByLabel(`Name of header ${number}`).fill(name);
  await page.getByLabel(`Value of header ${number}`).fill(value);
}

/** Read with the field by screen readers too. */
async function expectError(page: Page, label: string, text: RegExp): Promise<void> {
  const field = page.getByRole('dialog').getByLabel(label, { exact: true });
  await page.getByRole('dialog').getByText(text).waitFor();
  const described = await field.getAttribute('aria-describedby');
  expect(await page.locator(`[id="${described}"]`).textContent()).toMatch(text);
  expect(await field.getAttribute('aria-invalid')).toBe('true');
}

/** Of the buttons that do more than show and copy. */
async function namesOfActions(page: Page): Promise<string[]> {
  const names =
    "[...document.querySelectorAll('main :is(button:not([type=submit]), .button.primary)')].map((one) => one.ariaLabel ?? one.textContent)";
  return (await page.evaluate<string[]>(names)).filter((name) => !/^(Copy|CSV)/.test(name));
}
