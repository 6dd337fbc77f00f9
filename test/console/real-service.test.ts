/** The way of one failed payment on the service itself, which serves the page and answers it. */
import { paymentEvents } from '../support/scenes/story.js';
import { describeInBrowser } from './browser.js';
import { served } from './served.js';

const ANSWER = 'the ledger is closed';

describeInBrowser('a failed payment of the service itself', (open) => {
  const here = served(open, { RETRY_SCHEDULE: '200ms,1h' });

  it('is found with the answer of its receiver, resent, and seen to arrive', async () => {
    here.replies.set('/payments', { status: 500, body: ANSWER });
    const account = await here.account();
    await account.post({ url: `${here.receiver.url}/payments`, eventType: 'cash_in' });
    await here.publish(paymentEvents(account.credential.accountId, 1));
    const page = await here.enter(account);
    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page.getByRole('link', { name: 'Cash in' }).first().click();
    await page.getByText(ANSWER).filter({ visible: true }).first().waitFor();
    here.replies.delete('/payments');
    await page.getByRole('button', { name: 'Resend now' }).click();
    await page.getByText('resent by maria').waitFor();
    await page.getByText(/Accepted by the receiver after \d attempts?\./).waitFor();
  });

  it.each([
    ['en', 'It is on its way: the first attempt follows.'],
    ['pt-BR', 'Está a caminho: a primeira tentativa virá em seguida.'],
  ])('shows a payment as on its way before its first attempt has ended (%s)', async (locale, text) => {
    here.replies.set('/slow', 'hang');
    const account = await here.account();
    await account.post({ url: `${here.receiver.url}/slow`, eventType: 'cash_in' });
    await here.publish(paymentEvents(account.credential.accountId, 1));
    const page = await here.enter(account, { next: '/payments', locale });
    await page.locator('a.row-link').first().click();
    await page.getByText(text).waitFor();
  });
});
