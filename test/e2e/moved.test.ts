import { eventually } from '../support/eventually.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents } from '../support/scenes/story.js';

const PATIENCE = { timeout: 20_000 };

const served = Served.around({
  respond: ({ path }) => ({ status: path === '/new' ? 200 : 503 }),
  settings: { RETRY_SCHEDULE: Array(9).fill('1s').join() },
});

test('what waits for its next attempt follows its webhook to another URL, under its webhook-id', async () => {
  const { receiver } = served;
  expect(await served.addWebhook('/old')).toBe(200);
  await served.publish(paymentEvents(42, 1));
  await eventually(() => receiver.requests.length > 0, PATIENCE);
  const move = { from: `${receiver.url}/old`, to: `${receiver.url}/new` };
  expect(await served.call('POST', '/api/webhooks/move', move)).toMatchObject({ success: true, moved: 1 });
  await eventually(() => receiver.taken.length > 0, PATIENCE);
  expect(receiver.taken.map(({ path }) => path)).toEqual(['/new']);
  expect(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});
