/** A delivery that was sent again or cancelled while its record was in hand: the record ends, wherever it is by then. */
import { eventually } from '../support/clocks/eventually.js';
import { DELIVERED, deliveryTo } from '../support/generators/delivery-samples.js';
import { DeliverFixture, lineOf, OWN } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
});
afterEach(() => fixture.scheduler.close());

/** Nothing was sent, stored or logged about it. */
function expectEnded(): void {
  expect([fixture.requests.length, fixture.waiting.length, fixture.deadLetters.length]).toEqual([0, 0, 0]);
  expect(fixture.log).toEqual([]);
  expect(fixture.logger.infos).toMatchObject([[{ laterChain: 9, deliveryId: deliveryTo(1).id }, expect.any(String)]]);
}

test('a record of an earlier chain is not sent, and its copies end', async () => {
  fixture.later = () => 9;
  expect(await fixture.deliver(deliveryTo(1))).toBe(true);
  expectEnded();
});

test('a request that comes while its delivery is queued ends it there', async () => {
  const entered = await fixture.scheduler.acquire(...lineOf(1));
  const done = fixture.deliver(deliveryTo(1));
  await eventually(() => fixture.scheduler.endpoints.waiting === 1);
  fixture.later = () => 9;
  if (entered.kind === 'acquired') entered.leave();
  expect(await done).toBe(true);
  expectEnded();
});

test('a delivery that has no room is not deferred once a later chain began', async () => {
  fixture.scheduler.close();
  let asked = 0;
  fixture.later = () => (++asked > 1 ? 9 : null);
  expect(await fixture.deliver(deliveryTo(1))).toBe(true);
  expectEnded();
});

test.each([
  ['switched off by its account', { isActive: false }],
  ['switched off by the service', { isActive: false, offBy: 'service' }],
] as const)('an end without an attempt is not logged once a later chain began: %s', async (_, changes) => {
  fixture.accounts.put(webhookOf(1, changes));
  fixture.confirmed = async () => {
    fixture.later = () => 9;
  };
  expect(await fixture.deliver(deliveryTo(1))).toBe(true);
  expectEnded();
});

test('a request that comes while the attempt is under way changes nothing of its result', async () => {
  fixture.answer = () => {
    fixture.later = () => 9;
    return DELIVERED;
  };
  await fixture.deliver(deliveryTo(1));
  expect(fixture.log).toMatchObject([{ outcome: 'delivered', chain: 0 }]);
});

test("in its URL's line a later chain takes the place of the earlier one, which ends", async () => {
  const entered = await fixture.scheduler.acquire(...lineOf(1));
  const [earlier, other] = [fixture.deliver(deliveryTo(1)), fixture.deliver(deliveryTo(1, { id: 'msg_other' }))];
  await eventually(() => fixture.scheduler.endpoints.waiting === 2);
  fixture.later = ({ id, chain }) => (id !== 'msg_other' && chain < 9 ? 9 : null);
  const later = fixture.deliver(deliveryTo(1, { chain: 9 }), OWN);
  expect(await earlier).toBe(true);
  expect(fixture.scheduler.endpoints.waiting).toBe(2);
  if (entered.kind === 'acquired') entered.leave();
  await Promise.all([other, later]);
  expect(fixture.requests.map(({ id }) => id)).toEqual([deliveryTo(1).id, 'msg_other']);
});
