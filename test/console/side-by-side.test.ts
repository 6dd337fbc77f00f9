/** Several sessions in one browser, on the service itself: each tab is one, and says which. */
import type { Page } from 'playwright-core';
import { opened } from '../support/clients/portal-session.js';
import { describeInBrowser } from './browser.js';
import { RIGHTS, served } from './served.js';

describeInBrowser('the tabs of one browser', (open) => {
  const here = served(open, { RETRY_SCHEDULE: '1h' });
  type Account = Awaited<ReturnType<typeof here.account>>;

  const secretsOf = async (account: Account) => {
    const { body } = await account.send('GET', '/api/signing-secrets');
    return (body as unknown as { secrets: object[] }).secrets.length;
  };
  const nameOf = ({ credential }: Account) => `Account ${credential.accountId}`;
  const isOf = (page: Page, account: Account) => page.getByText(nameOf(account)).first().waitFor();

  async function enterIn(page: Page, account: Account, next = '/'): Promise<void> {
    await page.goto((await opened(account, { can: RIGHTS, user: 'maria', next })).url);
    // The browser has a session of another account.
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await isOf(page, account);
  }

  it('are two accounts: each says which, shows and changes its own, and is it after a reload and in a new tab', async () => {
    const [one, other] = [await here.account(), await here.account()];
    const a = await here.enter(one, { next: '/console/security' });
    const b = await a.context().newPage();
    await enterIn(b, other, '/security');
    expect([await a.title(), await b.title()]).toEqual([one, other].map((account) => `Security · ${nameOf(account)}`));

    await a.getByRole('button', { name: 'Rotate…' }).click();
    await a.getByRole('button', { name: 'Issue a new secret' }).click();
    await a.getByRole('dialog', { name: 'Your new signing secret' }).waitFor();
    expect([await secretsOf(one), await secretsOf(other)]).toEqual([2, 1]);

    await a.reload();
    await isOf(a, one);
    const opening = a.context().waitForEvent('page');
    await a.getByRole('link', { name: 'History' }).click({ modifiers: ['ControlOrMeta'] });
    const c = await opening;
    await isOf(c, one);
    expect(await c.title()).toBe(`History · ${nameOf(one)}`);
  });

  it('say that a session is over, and go on with what was typed once another tab has entered the next', async () => {
    const [one, other] = [await here.account(), await here.account()];
    const a = await here.enter(one, { next: '/webhooks', refused: /^401 / });
    const b = await a.context().newPage();
    await enterIn(b, other);
    await a.getByRole('link', { name: 'Add a webhook' }).click();
    const url = a.getByRole('dialog', { name: 'Add a webhook' }).getByLabel('URL');
    await url.fill('https://shop.example.com/typed');
    const ending = await here.enter(one, { user: 'joana', next: '/security' });
    await ending.getByRole('button', { name: 'End…' }).click();
    const question = ending.getByRole('dialog', { name: /^End the session of / });
    await question.getByRole('button', { name: 'End session' }).click();
    await a.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await isOf(b, other);

    const c = await a.context().newPage();
    await enterIn(c, one);
    await a.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    expect(await url.inputValue()).toBe('https://shop.example.com/typed');
    await a.reload();
    await isOf(a, one);
    await c.close();
  });

  it('say that a session ends within five minutes, in dialogs too', async () => {
    const account = await here.account();
    const page = await open();
    await page.goto((await opened(account, { can: RIGHTS, lifetime: '4m', next: '/webhooks' })).url);
    await page.getByText(/^Your session ends at \d\d:\d\d/).waitFor();
    await page.getByRole('link', { name: 'Add a webhook' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/^Your session ends at \d\d:\d\d/).waitFor();
  });
});
