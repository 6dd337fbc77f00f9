/** What was given up can be sent again, whatever its account does with the webhook meanwhile. */

import { jsonLines } from '../support/clients/service.js';
import { eventually } from '../support/eventually.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents } from '../support/scenes/story.js';

/** With two attempts each, fewer than the failures that open a breaker. */
const COUNT = 4;
const SINCE = '2020-01-01T00:00:00Z';
const PATIENCE = { timeout: 30_000 };

let answer: { status: number } | 'hang' = { status: 500 };
const served = Served.around({
  respond: () => answer,
  settings: { RETRY_SCHEDULE: '50ms', DELIVERY_TIMEOUT: '1s', ENDPOINT_CONCURRENCY: '1' },
});
let webhook: number;
beforeAll(async () => {
  await served.addWebhook('/');
  webhook = (await call<{ webhooks: { id: number }[] }>('GET', '/api/webhooks')).webhooks[0]?.id ?? 0;
});

const call = <T>(method: string, path: string, json?: object) => served.call<T>(method, path, json);
const switched = (isActive: boolean) => call('PATCH', `/api/webhooks/${webhook}`, { isActive });
const include = 'exhausted,held';
const recoverable = async () =>
  (await call<{ count: number }>('GET', `/api/webhooks/${webhook}/recover?since=${SINCE}&include=${include}`)).count;
const delivered = async () =>
  (await call<{ deliveries: unknown[] }>('GET', '/api/deliveries?limit=200&outcome=delivered')).deliveries.length;
const recover = () =>
  call<{ id: string }>('POST', `/api/webhooks/${webhook}/recover`, {
    since: SINCE,
    include: ['exhausted', 'held'],
    perSecond: 100,
  });
const recovery = (id: string) => call<{ state: string; sent: number }>('GET', `/api/recoveries/${id}`);

/** All of them are recovered while their URL hangs, and the webhook is paused and resumed before their attempts. */
async function pausedWhileRecovered(): Promise<void> {
  answer = 'hang';
  const { id } = await recover();
  await eventually(async () => (await recovery(id)).sent === COUNT, PATIENCE);
  await switched(false);
  await eventually(async () => (await recoverable()) === COUNT, PATIENCE);
  await switched(true);
  expect(await recovery(id)).toMatchObject({ state: 'done' });
}

test('exhausted deliveries whose recovery was cut short by a pause are replayed', async () => {
  await served.publish(paymentEvents(42, COUNT, 'exhausted-'));
  await eventually(async () => (await recoverable()) === COUNT, PATIENCE);
  await pausedWhileRecovered();
  answer = { status: 200 };
  const { code, stdout } = await served.command('dead-letters', 'replay', '--json');
  expect([code, jsonLines(stdout).length]).toEqual([0, COUNT]);
  await eventually(async () => (await delivered()) === COUNT, PATIENCE);
});

test('held deliveries whose recovery was cut short by a pause are recovered', async () => {
  answer = { status: 410 };
  await served.publish(paymentEvents(42, COUNT, 'held-'));
  await eventually(async () => (await recoverable()) === COUNT, PATIENCE);
  await switched(true);
  await pausedWhileRecovered();
  answer = { status: 200 };
  await recover();
  await eventually(async () => (await delivered()) === 2 * COUNT, PATIENCE);
  expect(await recoverable()).toBe(0);
});
