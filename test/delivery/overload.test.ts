/** More events than this process can deliver, to URLs that are well. */
import type { AttemptResult } from '../../src/delivery/attempt/attempt.js';
import { Backpressure } from '../../src/delivery/backpressure.js';
import { AccountFixture } from '../support/account-fixture.js';
import { ACCOUNT, DELIVERED } from '../support/delivery-samples.js';
import { eventually } from '../support/eventually.js';
import { payments } from '../support/poison.js';
import { testScheduler } from '../support/test-scheduler.js';

const EVENTS = 1_500;
const URLS = 2;
const WINDOW = 16;
const BEFORE = 20;
const QUEUE = 1_000;
const PATIENCE = { timeout: 30_000 };
const TIER = 'webhooks.deferred.5s';

jest.setTimeout(60_000);

let fixture: AccountFixture;
beforeEach(async () => {
  fixture = await AccountFixture.open();
});
afterEach(() => fixture.close());

/** Attempts that end when it is told, but for those before, by which the endpoint has shown what it takes. */
async function dispatchSlowly({ isBusy }: { readonly isBusy: boolean }) {
  for (let id = 1; id <= URLS; id += 1) {
    await fixture.installation.webhook({ id, accountId: ACCOUNT, url: `https://hooks.shop.com/${id}` });
  }
  const scheduler = testScheduler({ slots: 2 * URLS * WINDOW, perEndpoint: WINDOW });
  let [attempts, mostWaiting] = [0, 0];
  let goOn: () => void = () => undefined;
  const goingOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const attempt = async (): Promise<AttemptResult> => {
    attempts += 1;
    if (attempts <= URLS * BEFORE) return DELIVERED;
    mostWaiting = Math.max(mostWaiting, scheduler.endpoints.waiting);
    await goingOn;
    return DELIVERED;
  };
  const now = () => performance.now();
  const backpressure = new Backpressure({ queues: scheduler.endpoints, busyMs: isBusy ? now : () => 0, now });
  await fixture.installation.dispatch({ scheduler, attempt, backpressure });
  await fixture.installation.publish(...payments(BEFORE, 'before'));
  await eventually(() => attempts === URLS * BEFORE);
  await fixture.installation.publish(...payments(EVENTS));
  return { scheduler, goOn, seen: () => ({ attempts: attempts - URLS * BEFORE, mostWaiting }) };
}

const deferred = async () => (await fixture.installation.browse(TIER)).length;

test('while the process is busy records stay in their topic: none is deferred, and all are delivered', async () => {
  const { scheduler, goOn, seen } = await dispatchSlowly({ isBusy: true });
  await eventually(() => scheduler.endpoints.waiting > 1_500);
  goOn();
  await eventually(() => seen().attempts === URLS * EVENTS, PATIENCE);
  expect(await deferred()).toBe(0);
  expect(seen().mostWaiting).toBeLessThan(1_600);
});

test('while it has time they are taken: what a queue does not hold is deferred, and holds nobody else', async () => {
  const { scheduler, goOn, seen } = await dispatchSlowly({ isBusy: false });
  await eventually(async () => (await deferred()) === URLS * (EVENTS - QUEUE - WINDOW), PATIENCE);
  expect(scheduler.endpoints.waiting).toBe(URLS * QUEUE);
  goOn();
  await eventually(() => seen().attempts === URLS * (QUEUE + WINDOW), PATIENCE);
});
