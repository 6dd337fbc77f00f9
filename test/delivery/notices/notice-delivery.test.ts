import type { Delivery } from '../../../src/delivery/delivery.js';
import { type Notice, noticeDelivery, noticeRecord, positionRecord } from '../../../src/delivery/notices/notice.js';
import { waitOf } from '../../../src/delivery/retry/bundle.js';
import { deliveriesIn } from '../../support/generators/bundles.js';
import { ACCOUNT, failedWith, GONE, INTERRUPTED, NOW, received } from '../../support/generators/delivery-samples.js';
import { DeliverFixture, OWN } from '../../support/scenes/deliver-fixture.js';
import { webhookOf } from '../../support/scenes/fake-accounts.js';

const TARGET = 'https://alerts.example.com/notices';
const SEALED = 'v1.00000000.abc';
const NOTICE: Notice = {
  id: 'ntc_1',
  type: 'webhook_failing',
  accountId: ACCOUNT,
  timestamp: new Date(NOW).toISOString(),
  data: {
    ...{ webhookId: 1, eventType: 'cash_in', url: 'https://shop.example.com', since: new Date(NOW).toISOString() },
    ...{ lastFailure: null, waiting: 0, held: 0, deactivatesAt: null, reason: null },
  },
};

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
  fixture.accounts.notices = { url: TARGET, endpoint: TARGET, headers: [{ key: 'X-Key', sealed: SEALED }] };
});

const published = received(noticeRecord(NOTICE, 'position 1'));
const ofTopic = noticeDelivery(published) as Delivery;
const send = (notice = ofTopic, hold = OWN) => fixture.deliver(notice, hold);

/** What waits in tiers, by tier. */
function waiting() {
  const tiers = fixture.broker.topics.filter((topic) => fixture.topics.isTier(topic));
  return tiers.flatMap((tier) =>
    fixture.broker
      .of(tier)
      .map((record) => ({ tier: tier.replace(/^webhooks\.(retry\.)?/, ''), due: waitOf(record).due, record })),
  );
}

test('a notice is sent to the notice URL, with its headers and the id that is signed', async () => {
  await send();
  const [headers, secrets] = [[{ key: 'X-Key', value: `opened ${SEALED}` }], [Buffer.alloc(32, 1)]];
  expect(fixture.requests).toMatchObject([{ url: TARGET, id: 'ntc_1', accountId: ACCOUNT, headers, secrets }]);
  expect(JSON.parse(fixture.requests[0]?.body.toString() ?? '')).toEqual({
    ...NOTICE,
    data: { ...NOTICE.data, url: webhookOf(1).url },
  });
  expect(fixture.broker.topics).toEqual([]);
});

describe('nothing is sent', () => {
  test('where the account has no notice URL', async () => {
    fixture.accounts.notices = undefined;
    await send();
    expect([fixture.requests, fixture.broker.topics]).toEqual([[], []]);
  });

  test('where the notice is about the notice URL itself', async () => {
    fixture.accounts.put(webhookOf(1, { endpoint: TARGET }));
    await send();
    expect([fixture.requests, fixture.broker.topics]).toEqual([[], []]);
  });

  test.each([{}, { value: Buffer.from('{') }, { value: null }])('for a record of somebody else: %j', (changes) => {
    expect(noticeDelivery(received({ key: null, value: Buffer.from('{}'), headers: [], ...changes }))).toBeNull();
    expect(noticeDelivery({ ...published, value: Buffer.from('{') })).toBeNull();
  });
});

test('a record that only marks a position is not a notice', () => {
  expect(noticeDelivery(received(positionRecord('7')))).toBeNull();
});

describe('a notice that fails', () => {
  test('waits in each tier of the schedule, and is given up after the last', async () => {
    fixture.answer = () => failedWith(500);
    const tiers: string[] = [];
    let notice: Delivery | null = ofTopic;
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await send(notice ?? ofTopic);
      const [next] = waiting();
      tiers.push(`${next?.tier} ${(next?.due ?? 0) - NOW}`);
      notice = next ? (deliveriesIn(next.record)[0] ?? null) : null;
      fixture.broker.forget();
    }
    expect(tiers).toEqual(['5s 5000', '5m 300000', '2h 7200000']);
    await send(notice ?? ofTopic);
    expect(fixture.broker.topics).toEqual([]);
    const told = [{ deliveryId: 'ntc_1' }, expect.stringContaining('exhausted')];
    expect(fixture.logger.warnings.at(-1)).toMatchObject(told);
    expect(new Set(fixture.requests.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
    expect(fixture.requests).toHaveLength(4);
  });

  test('is given up after a 410', async () => {
    fixture.answer = () => GONE;
    await send();
    expect(fixture.broker.topics).toEqual([]);
  });

  test('goes to the first tier without a step where the service stops, or the scheduler is closed', async () => {
    fixture.answer = () => INTERRUPTED;
    await send();
    fixture.scheduler.close();
    await send();
    expect(waiting().map(({ tier, record }) => [tier, deliveriesIn(record)[0]?.step])).toEqual([
      ['deferred.5s', 0],
      ['deferred.5s', 0],
    ]);
  });

  test('is no delivery: nothing is logged, and no health is noted', async () => {
    fixture.answer = () => failedWith(500);
    await send();
    expect([fixture.log, fixture.deadLetters, fixture.commands]).toEqual([[], [], []]);
  });
});
