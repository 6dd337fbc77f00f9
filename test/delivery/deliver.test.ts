import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import { headerText } from '../../src/ports/broker.js';
import { StoreUnavailable } from '../../src/ports/event-store.js';
import {
  ACCOUNT,
  DELIVERED,
  deliveryTo,
  failedWith,
  GONE,
  NOW,
  paymentRecord,
} from '../support/generators/delivery-samples.js';
import { DeliverFixture, lineOf } from '../support/scenes/deliver-fixture.js';
import { webhookOf } from '../support/scenes/fake-accounts.js';
import { settled } from '../support/scenes/scheduler-scene.js';

let fixture: DeliverFixture;
beforeEach(() => {
  fixture = new DeliverFixture();
  fixture.accounts.put(webhookOf(1));
});

describe('an attempt that is answered with 2xx', () => {
  test('ends the delivery: one record of the log, and nothing else', async () => {
    const { log, broker } = await fixture.attempted({ ...DELIVERED, status: 204 } as AttemptResult, {
      attempts: 2,
      step: 2,
    });
    expect(broker.topics).toEqual(['webhooks.deliveries']);
    expect(log).toMatchObject([{ outcome: 'delivered', attempt: { status: 204, version: 1 }, nextAttemptAt: null }]);
  });
});

describe('an attempt whose receiver keeps its connection busy after the status', () => {
  let free = () => {};
  const held = (result: AttemptResult): AttemptResult => ({
    ...result,
    over: new Promise((resolve) => (free = resolve)),
  });

  test.each([
    ['delivered', DELIVERED],
    ['retrying', failedWith(500)],
  ])('is %s in the log, and keeps its slot until the connection is free', async (outcome, result) => {
    await fixture.attempted(held(result));
    expect(fixture.log).toMatchObject([{ outcome }]);
    expect(fixture.scheduler.state.active).toBe(1);
    fixture.answer = () => DELIVERED;
    const next = fixture.deliver(deliveryTo(1, { id: 'msg_next' }));
    await settled();
    expect(fixture.requests).toHaveLength(1);
    free();
    await next;
    expect(fixture.requests).toHaveLength(2);
    expect(fixture.scheduler.state.active).toBe(0);
  });
});

describe('an attempt that is answered with 410', () => {
  test('deactivates the webhook of the version it was sent with; the delivery is a dead letter that can be replayed', async () => {
    const { commands, log, deadLetters } = await fixture.attempted(GONE);
    expect(commands).toMatchObject([
      {
        accountId: ACCOUNT,
        actor: 'dispatcher',
        command: { type: 'DeactivateWebhook', webhookId: 1, version: 1, at: new Date(NOW).toISOString() },
      },
    ]);
    expect(log).toMatchObject([{ outcome: 'exhausted', attempts: 1, attempt: { status: 410 }, nextAttemptAt: null }]);
    expect(log[0]).not.toHaveProperty('held');
    expect(deadLetters.map((letter) => headerText(letter, 'aw-reason'))).toEqual(['deactivated']);
  });

  test('the webhook having been updated meanwhile: it is tried again under what is configured now', async () => {
    fixture.answer = () => {
      fixture.accounts.put(webhookOf(1, { version: 2 }));
      return GONE;
    };
    await fixture.deliver(deliveryTo(1));
    expect(fixture.waiting).toMatchObject([{ tier: '5s', delivery: { attempts: 1 } }]);
    expect(fixture.log).toMatchObject([{ outcome: 'retrying', attempt: { status: 410, version: 1 } }]);
  });

  test.each<[string, () => void]>([
    ['removed the webhook', () => fixture.accounts.remove(1)],
    ['switched it off', () => fixture.accounts.put(webhookOf(1, { isActive: false }))],
  ])('its account %s meanwhile: it is cancelled, and no dead letter', async (_, change) => {
    fixture.accounts.put(webhookOf(1));
    fixture.answer = () => {
      change();
      return GONE;
    };
    await fixture.deliver(deliveryTo(1));
    expect(fixture.log).toMatchObject([{ outcome: 'cancelled', attempt: { status: 410 } }]);
    expect(fixture.deadLetters).toEqual([]);
  });

  test('the store being away: it is tried again like any failure, and its next 410 deactivates', async () => {
    fixture.decision = () => Promise.reject(new StoreUnavailable('away'));
    const { waiting, log } = await fixture.attempted(GONE);
    expect(waiting).toMatchObject([{ tier: '5s', delivery: { attempts: 1 } }]);
    expect(log).toMatchObject([{ outcome: 'retrying', attempt: { status: 410 } }]);
  });
});

test('the answer to an attempt that failed is in the log, sealed for this attempt alone', async () => {
  const { log } = await fixture.attempted({ ...failedWith(503), response: 'your key was k-1' });
  const place = `response:${deliveryTo(1).id}:${new Date(NOW).toISOString()}`;
  expect(log).toMatchObject([{ attempt: { response: `sealed for ${ACCOUNT}, ${place}: your key was k-1` } }]);
});

test.each([
  ['a resend', { trigger: 'resend' }, true],
  ['a recovery', { trigger: 'recover' }, false],
  ['a payment', {}, false],
] as const)('the body of a 2xx is kept for %s: %s', async (_, delivery, keepsAnswer) => {
  expect((await fixture.attempted(DELIVERED, delivery)).requests).toMatchObject([{ keepsAnswer }]);
});

describe('a webhook that is gone or inactive', () => {
  test.each([
    ['gone', () => fixture.accounts.remove(1)],
    ['inactive', () => fixture.accounts.put(webhookOf(1, { isActive: false }))],
  ])('%s, also where it became so while its delivery was queued: cancelled without an attempt', async (_, change) => {
    const place = await fixture.scheduler.acquire(...lineOf(1));
    const queued = fixture.deliver(deliveryTo(1));
    change();
    await fixture.deliver(deliveryTo(1, { attempts: 1, step: 1 }));
    if (place.kind === 'acquired') place.leave();
    await queued;
    expect(fixture.requests).toEqual([]);
    expect(fixture.broker.topics).toEqual(['webhooks.deliveries']);
    const cancelled = { outcome: 'cancelled', attempt: null, nextAttemptAt: null };
    expect(fixture.log).toMatchObject([cancelled, cancelled]);
  });

  test('switched off by the service: a dead letter without an attempt, for it is not the account that cancelled', async () => {
    fixture.accounts.put(webhookOf(1, { isActive: false, offBy: 'service' }));
    await fixture.deliver(deliveryTo(1, { attempts: 1, step: 1 }));
    expect(fixture.requests).toEqual([]);
    expect(fixture.log).toMatchObject([{ outcome: 'exhausted', held: true, attempts: 1, attempt: null }]);
    expect(fixture.deadLetters.map((letter) => headerText(letter, 'aw-reason'))).toEqual(['deactivated']);
  });
});

test('a delivery whose webhook another event added is a dead letter without an attempt: its id belongs to another one', async () => {
  for (const isActive of [true, false]) {
    fixture.accounts.put(webhookOf(1, { addedBy: 'another event', isActive }));
    await fixture.deliver(deliveryTo(1, { attempts: 2, step: 2 }));
  }
  expect(fixture.requests).toEqual([]);
  const ended = { outcome: 'exhausted', webhookEvent: 'added 1', attempts: 2, attempt: null };
  expect(fixture.log).toMatchObject([ended, ended]);
  const reasons = fixture.deadLetters.map((letter) => headerText(letter, 'aw-reason'));
  expect(reasons).toEqual(['other-history', 'other-history']);
});

describe('what an attempt is made with', () => {
  test("the webhook's endpoint, the payment's very bytes, opened headers, the account's secrets, the stop's signal", async () => {
    const value = Buffer.from([0x7b, 0x20, 0xff, 0x7d]);
    const headers = [{ key: 'X-A', sealed: 'a' }];
    fixture.accounts.put(webhookOf(1, { url: 'HTTPS://Shop.example.com/1', headers }));
    const delivery = deliveryTo(1, { record: paymentRecord({ value }) });
    await fixture.deliver(delivery);
    expect(fixture.requests).toEqual([
      {
        accountId: ACCOUNT,
        url: 'https://shop.example.com/1',
        id: delivery.id,
        body: value,
        headers: [{ key: 'X-A', value: 'opened a' }],
        secrets: [Buffer.alloc(32, 1)],
        signal: fixture.interrupt.signal,
        trace: null,
        keepsAnswer: false,
        hasWaited: false,
      },
    ]);
  });

  test('whether the delivery had to wait for its slot', async () => {
    const place = await fixture.scheduler.acquire(...lineOf(1));
    const queued = fixture.deliver(deliveryTo(1));
    if (place.kind === 'acquired') place.leave();
    await queued;
    await fixture.deliver(deliveryTo(1));
    expect(fixture.requests).toMatchObject([{ hasWaited: true }, { hasWaited: false }]);
  });

  test('is looked up again at each attempt; the log tells with which version it was sent', async () => {
    fixture.accounts.put(webhookOf(1, { headers: [{ key: 'X-A', sealed: 'old' }] }));
    fixture.answer = () => failedWith(500);
    await fixture.deliver(deliveryTo(1));
    fixture.accounts.put(
      webhookOf(1, { version: 2, headers: [{ key: 'X-A', sealed: 'new' }], endpoint: 'https://new/' }),
    );
    fixture.secrets = async () => [Buffer.alloc(32, 2)];
    const [waiting] = fixture.waiting;
    if (waiting) await fixture.deliver(waiting.delivery);
    const made = fixture.requests.map(({ url, headers, secrets }) => [url, headers[0]?.value, secrets[0]?.[0]]);
    expect(made).toEqual([
      ['https://shop.example.com/1', 'opened old', 1],
      ['https://new/', 'opened new', 2],
    ]);
    expect(fixture.log.map(({ attempt }) => attempt?.version)).toEqual([1, 2]);
  });

  test('another URL while it is queued counts: its slot is of that URL, and so is the version that was sent', async () => {
    const moved = webhookOf(1, { version: 2, endpoint: 'https://new.example.com/' });
    const place = await fixture.scheduler.acquire(...lineOf(1));
    const acquire = jest.spyOn(fixture.scheduler, 'acquire');
    const delivered = fixture.deliver(deliveryTo(1));
    fixture.accounts.put(moved);
    if (place.kind === 'acquired') place.leave();
    await delivered;
    expect(acquire.mock.calls.map(([, url]) => url)).toEqual([webhookOf(1).endpoint, moved.endpoint]);
    expect(fixture.requests.map(({ url }) => url)).toEqual([moved.endpoint]);
    expect(fixture.log).toMatchObject([{ outcome: 'delivered', attempt: { version: 2 } }]);
    expect(fixture.scheduler.state.active).toBe(0);
  });
});
