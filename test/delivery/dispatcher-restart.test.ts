import { eventually } from '../support/clocks/eventually.js';
import { payment } from '../support/generators/poison.js';
import { AccountFixture, webhookId } from '../support/scenes/account-fixture.js';

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

describe('stop and start', () => {
  test('what waits in a tier of an earlier schedule is still delivered, with its webhook-id', async () => {
    let status = 500;
    const { requests } = await fixture.webhook(1, { respond: () => ({ status }) });
    await fixture.installation.dispatch({ schedule: [{ text: '59s', ms: 59_000 }], now: () => Date.now() - 70_000 });
    await fixture.installation.publish(payment('evt'));
    await eventually(async () => (await fixture.installation.browse('webhooks.retry.59s')).length === 1);
    await fixture.restart();
    status = 200;
    await fixture.installation.dispatch({ schedule: [{ text: '1h', ms: 3_600_000 }] });
    await eventually(() => requests.length === 2);
    expect(new Set(requests.map(webhookId)).size).toBe(1);
  });
});
