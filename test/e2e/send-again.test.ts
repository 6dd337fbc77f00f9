/** `deliveries resend` against a service with real deliveries; move-webhook.test.ts has `webhooks recover --wait`. */
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { Served } from '../support/served.js';
import { jsonLines } from '../support/service.js';
import { paymentEvents } from '../support/story.js';

const PATIENCE = { timeout: 30_000 };

let status = 200;
const served = Served.around({
  respond: () => ({ status }),
  settings: { RETRY_SCHEDULE: '100ms', DELIVERY_TIMEOUT: '5s' },
});
beforeAll(() => served.addWebhook('/'));

interface Delivery {
  readonly id: string;
  readonly outcome: string;
  readonly attempts: readonly unknown[];
}

const deliveryOf = async (eventId: string) =>
  (await served.call<{ deliveries: Delivery[] }>('GET', `/api/deliveries?eventId=${eventId}`)).deliveries[0];

const hasEnded = (eventId: string, outcome: string) =>
  eventually(async () => (await deliveryOf(eventId))?.outcome === outcome, PATIENCE);
const command = (...args: string[]) =>
  commandLine(served.settings, [...args, '--url', served.service.url], served.token);

test('each resend of a delivered delivery is an attempt, also after one that failed', async () => {
  status = 200;
  await served.publish(paymentEvents(42, 1));
  await hasEnded('evt-0', 'delivered');
  status = 500;
  const id = (await deliveryOf('evt-0'))?.id ?? '';
  for (const count of [2, 3]) {
    const resent = await command('deliveries', 'resend', id);
    expect(resent).toEqual({ code: 0, stdout: 'the delivery is sent again\n', stderr: '' });
    await eventually(async () => (await deliveryOf('evt-0'))?.attempts.length === count, PATIENCE);
  }
  expect(await deliveryOf('evt-0')).toMatchObject({ outcome: 'delivered' });
});

test('a resend that is cancelled before its attempt is not made, and the outcome is what it was', async () => {
  status = 500;
  await served.publish(paymentEvents(42, 1, 'given-up-'));
  await hasEnded('given-up-0', 'exhausted');
  const events = ['evt-0', 'given-up-0'];
  const all = await Promise.all(events.map(deliveryOf));
  // Nothing is sent meanwhile.
  await served.restart({}, ['api']);
  const call = async (path: string, method = 'POST') => (await served.ask(method, `/api/deliveries/${path}`)).status;
  for (const before of all) {
    // Once its view is there.
    await eventually(async () => (await call(`${before?.id}`, 'GET')) === 200, PATIENCE);
    // Of what has ended it changes nothing.
    for (const request of ['cancel', 'resend', 'cancel']) expect(await call(`${before?.id}/${request}`)).toBe(202);
  }
  await eventually(async () => (await deliveryOf('given-up-0'))?.outcome === 'exhausted', PATIENCE);
  await served.restart();
  await served.publish(paymentEvents(42, 1, 'later-'));
  await hasEnded('later-0', 'exhausted');
  // Its resend comes behind them in their topic.
  await command('deliveries', 'resend', (await deliveryOf('later-0'))?.id ?? '');
  await eventually(async () => (await deliveryOf('later-0'))?.attempts.length === 3, PATIENCE);
  const waiting = async () => {
    const period = ['--from', '2020-01-01', '--to', '2120-01-01'];
    const { code, stdout } = await served.command('audit', 'completeness', ...period, '--json');
    return code === 0 && jsonLines(stdout).at(-1);
  };
  const audited = await eventually(waiting, PATIENCE);
  expect(audited).toMatchObject({ unanswered: 0 });
  expect(await Promise.all(events.map(deliveryOf))).toEqual(all);
});

test('a resend waits for no retry, however long the delays are', async () => {
  await served.restart({ RETRY_SCHEDULE: '1h' });
  status = 500;
  await served.publish(paymentEvents(42, 1, 'waits-'));
  await hasEnded('waits-0', 'retrying');
  status = 200;
  await command('deliveries', 'resend', (await deliveryOf('given-up-0'))?.id ?? '');
  await hasEnded('given-up-0', 'delivered');
});
