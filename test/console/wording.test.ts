/** Sentences that are true and well formed for few, for none, and for what the page does not know. */
import type { Page } from 'playwright-core';
import { ptBr as dialogsPtBr } from '../../src/console/texts/dialogs-pt-br.js';
import { en } from '../../src/console/texts/en.js';
import { ptBr } from '../../src/console/texts/pt-br.js';
import { ptBr as webhooksPtBr } from '../../src/console/texts/webhooks-pt-br.js';
import { describeOnMock } from './on-mock.js';

describe('a sentence about few', () => {
  it.each([
    ['Your webhook delivers', en.problems.allWell(1)],
    ['All 2 webhooks deliver', en.problems.allWell(2)],
    ['1 enviada, 1 entregue, 0 falhou de novo', ptBr.recover.result('1', '1', '0')],
    ['1.204 enviadas, 1.200 entregues, 4 falharam de novo', ptBr.recover.result('1.204', '1.200', '4')],
    ['1 de 5 não pôde ser reenviada.', dialogsPtBr.resendingSelected.someFailed(1, 5)],
    ['2 de 5 não puderam ser reenviadas.', dialogsPtBr.resendingSelected.someFailed(2, 5)],
    ['Sessão aberta pelo operador joana', ptBr.changes.by('Sessão aberta', 'operador joana')],
    ['Sessão aberta por joana', ptBr.changes.by('Sessão aberta', 'joana')],
  ])('reads “%s”', (expected, said) => {
    expect(said).toBe(expected);
  });

  it.each([
    [en.delivery.story, /^Given up before a first attempt\. /],
    [ptBr.delivery.story, /^Nenhuma tentativa foi feita e nenhuma está prevista\. /],
  ])('says of a delivery that was given up without an attempt: %#', ({ exhausted }, expected) => {
    expect(exhausted(0)).toMatch(expected);
  });
});

it('calls in Portuguese nothing “esgotado” but a time, as what is sold out is', () => {
  const { errors, ...shown } = ptBr;
  expect(errors('timeout')).toBe('Tempo esgotado');
  expect(JSON.stringify([shown, dialogsPtBr, webhooksPtBr])).not.toMatch(/esgotad/i);
});

describeOnMock('the page', (show) => {
  /** A delivery that was given up, with these differences. */
  async function delivery(change: object, locale = 'en-GB'): Promise<Page> {
    const { page, mock } = await show(null, { locale });
    await page.route('**/api/deliveries/msg_6', async (route) => {
      const response = await route.fetch();
      const answer = (await response.json()) as { delivery: object };
      await route.fulfill({ response, json: { delivery: { ...answer.delivery, ...change } } });
    });
    await page.goto(mock.link('/console/deliveries/msg_6'));
    await page.locator('.timeline').waitFor();
    return page;
  }

  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();

  it.each([
    ['cannot be read right now', 'is still to come', 1],
    ['is no longer kept', 'has passed', -1],
    ['is no longer kept', 'is not known', null],
  ])('says that a payload %s where the end of its time %s', async (why, _, hours) => {
    const page = await delivery({ payload: null, payloadUntil: hours && inHours(hours) });
    await page.getByText(`The payload ${why}.`).waitFor();
  });

  it('says that a payload is formatted, unless it is shown as it was published', async () => {
    const page = await delivery({ payloadUntil: null });
    await page.getByText('Formatted here; copied as published.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByText('As published, byte for byte.', { exact: true }).waitFor();
  });

  it('does not claim of a cancelled delivery that its receiver did not get it', async () => {
    const page = await delivery({ outcome: 'cancelled' });
    await page.getByText('Cancelled by the account: the receiver did not accept this event.').waitFor();
  });

  it('says in Portuguese which operator replayed a delivery', async () => {
    const attempt = { at: inHours(-1), status: 204, error: null, durationMs: 9, version: 1, url: 'https://a.example' };
    const page = await delivery({ attempts: [{ ...attempt, trigger: 'replay', actor: 'cli:joão' }] }, 'pt-BR');
    await page.getByText(/^repetida pelo operador \u2068joão\u2069$/).waitFor();
  });

  it('says that a webhook’s headers are listed as they are now', async () => {
    const page = await delivery({});
    await page.getByText('Headers sent').click();
    await page.getByText('Those of the webhook are listed as they are now.').waitFor();
  });

  it('shows the last failure of a URL that was activated again and has never accepted anything', async () => {
    const { page, mock } = await show(null);
    const lastFailure = { at: inHours(-1), status: 410, error: null };
    await page.route('**/api/webhooks/health', async (route) => {
      const response = await route.fetch();
      const { webhooks } = (await response.json()) as { webhooks: object[] };
      const untried = { state: 'untried', since: inHours(0), offBy: null, held: 0, lastSuccessAt: null, lastFailure };
      await route.fulfill({ response, json: { webhooks: webhooks.map((one) => ({ ...one, ...untried })) } });
    });
    await page.goto(mock.link('/console/webhooks'));
    const row = page.locator('.hook').first();
    await row.getByText('Active again').waitFor();
    expect(await row.locator('.hook-name').textContent()).toMatch(/Last failure 1 hr ago: 410/);
  });

  it('asks whether to end a session without a user', async () => {
    const { page, mock } = await show(null);
    await page.route('**/api/portal-sessions', async (route) => {
      const response = await route.fetch();
      const { sessions } = (await response.json()) as { sessions: object[] };
      await route.fulfill({ response, json: { sessions: sessions.map((one) => ({ ...one, user: null })) } });
    });
    await page.goto(mock.link('/console/security'));
    await page.getByRole('button', { name: 'End…' }).first().click();
    await page.getByRole('dialog', { name: 'End this session?', exact: true }).waitFor();
  });
});
