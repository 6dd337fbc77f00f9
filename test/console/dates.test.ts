/** Days and years beside the clock, where the reader's zone or the age of what is shown makes them matter. */
import { describeOnMock } from './on-mock.js';

/** In Brasília it is 22:15 of the day before. */
const LATE = '2026-11-18T01:15:00.000Z';
const REMOVED = { actor: 'maria', type: 'WebhookRemoved', webhookId: 1, changes: 'removed' };

describeOnMock('a time', (show) => {
  async function changedAt(at: string) {
    const { page, mock } = await show(null);
    await page.clock.setFixedTime('2026-11-20T12:00:00.000Z');
    const events = [{ ...REMOVED, at }];
    await page.route('**/api/history?*', (route) => route.fulfill({ json: { events, next: null } }));
    await page.goto(mock.link('/console/history'));
    const time = page.locator('td time');
    await time.waitFor();
    return time;
  }

  it.each([
    ['with the day in UTC where it is another', LATE, ['17 Nov 22:15:00', '18 Nov, 01:15:00 UTC']],
    ['without it where both are the same', '2026-11-18T15:00:00.000Z', ['18 Nov 12:00:00', '15:00:00 UTC']],
    ['with its year where it is not this one', '2024-11-18T15:00:00.000Z', ['18 Nov 2024 12:00:00', '15:00:00 UTC']],
  ])('is shown %s', async (_, at, expected) => {
    const time = await changedAt(at);
    expect(await time.locator('> *').allInnerTexts()).toEqual(expected);
  });

  it('in a sentence has its year where it is not this one', async () => {
    const time = await changedAt('2024-11-18T15:00:00.000Z');
    await time.page().getByText('The history begins on 18 Nov 2024, 12:00.').waitFor();
  });
});
