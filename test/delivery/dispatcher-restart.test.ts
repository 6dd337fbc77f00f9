import { type Broker, BrokerRefused } from '../../src/ports/broker.js';
import { patience } from '../runner/patience.js';
import { AccountFixture, webhookId } from '../support/account-fixture.js';
import { ACCOUNT } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { payment, payments } from '../support/poison.js';
import { withMethods } from '../support/with-methods.js';

const denyingTiers = (broker: Broker) =>
  withMethods(broker, {
    async publish(topic, records) {
      if (topic.startsWith('webhooks.retry.')) throw new BrokerRefused('no permission');
      return broker.publish(topic, records);
    },
  });

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

describe('stop and start', () => {
  test('under load: ends within its drain, and nothing that was done is sent again', async () => {
    let hangs = true;
    const fast = await fixture.webhook(1);
    const slow = await fixture.webhook(2, { respond: () => (hangs ? 'hang' : { status: 200 }) });
    const schedule = [{ text: '10ms', ms: 10 }];
    const dispatcher = await fixture.installation.dispatch({ schedule, drainMs: 20 });
    await fixture.installation.publish(...payments(200));
    await eventually(() => fast.requests.length > 20 && slow.requests.length > 0);
    const began = performance.now();
    await dispatcher.close();
    await dispatcher.closed;
    expect(performance.now() - began).toBeLessThan(4_000 * patience()); // 20 ms and no 5 s, nor the 15 s of an attempt
    const done = (await fixture.installation.deliveries(ACCOUNT)).filter(({ outcome }) => outcome === 'delivered');
    expect(done.length).toBeGreaterThan(0);
    await fixture.restart();
    hangs = false;
    const before = new Set([...fast.requests, ...slow.requests]);
    await fixture.installation.dispatch({ schedule });
    await eventually(async () => {
      const deliveries = await fixture.installation.deliveries(ACCOUNT);
      return deliveries.length === 400 && deliveries.every(({ outcome }) => outcome === 'delivered');
    });
    const again = [...fast.requests, ...slow.requests].filter((request) => !before.has(request));
    const doneIds = new Set(done.map(({ id }) => id));
    expect(again.map(webhookId).filter((id) => doneIds.has(id))).toEqual([]);
    for (const { attempts } of await fixture.installation.deliveries(ACCOUNT)) expect(attempts).toHaveLength(1);
  });

  test('a publish that is denied ends the dispatcher: what was attempted is not attempted again meanwhile', async () => {
    const { requests } = await fixture.webhook(1, { respond: () => ({ status: 500 }) });
    const dispatcher = await fixture.installation.dispatch({ broker: denyingTiers(fixture.installation.broker) });
    await fixture.installation.publish(payment('evt'));
    await expect(dispatcher.closed).rejects.toThrow(BrokerRefused);
    await dispatcher.close();
    expect(requests).toHaveLength(1);
  });

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
