import { beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Served } from '../support/served.js';
import { paymentEvents } from '../support/story.js';

const DEAD = '/dead';
/** Fails so often, which is long enough to be noted, and then takes everything. */
const FLAKY = '/flaky';
const FAILURES = 3;
const PATIENCE_MS = 20_000;

interface Webhook {
  readonly url: string;
  readonly isActive: boolean;
}

interface Entry {
  readonly type: string;
  readonly actor: string;
  readonly data: { readonly endpoint?: string; readonly reason?: string };
}

const served = Served.around({
  respond: ({ path }) => ({ status: path === FLAKY && requestsAt(FLAKY) > FAILURES ? 200 : 500 }),
  // Noted after a second, deactivated with the ninth failure: before the schedule ends, and before the breaker opens.
  settings: { RETRY_SCHEDULE: Array(20).fill('700ms').join(), DEACTIVATE_AFTER: '5s' },
});
beforeAll(async () => {
  await served.addWebhook(DEAD);
  await served.addWebhook(FLAKY, 'cash_out');
});

async function webhookAt(path: string): Promise<Webhook | undefined> {
  const { webhooks } = await served.call<{ webhooks: Webhook[] }>('GET', '/api/webhooks');
  return webhooks.find(({ url }) => url === served.receiver.url + path);
}

const history = () => served.lines<Entry>('audit', 'log', '--account', '42');
const requestsAt = (path: string) => served.receiver.requests.filter((request) => request.path === path).length;

test('a URL that takes nothing for DEACTIVATE_AFTER is deactivated, and the history says why', async () => {
  await served.publish(paymentEvents(42, 1));
  const isInactive = async () => (await webhookAt(DEAD))?.isActive === false;
  await eventually(isInactive, { timeout: PATIENCE_MS, message: 'it was not deactivated' });
  const ofDispatcher = (await history()).filter(({ actor }) => actor === 'dispatcher');
  expect(ofDispatcher.map(({ type }) => type)).toEqual([
    ...['EndpointFailing', 'DeactivationAnnounced', 'WebhookDeactivated'],
  ]);
  expect(ofDispatcher[2]?.data.reason).toMatch(/^nothing was delivered since \d{4}-/);
  const ended = async () => {
    const [delivery] = await served.lines('deliveries', 'list', '--account', '42');
    return delivery?.outcome === 'exhausted';
  };
  await eventually(ended, { timeout: PATIENCE_MS, message: 'its delivery has no end' });
});

test('a payment that comes then is held; a replay sends it, and the one that ended, once the webhook is active', async () => {
  const before = requestsAt(DEAD);
  await served.publish(paymentEvents(42, 1, 'held-'));
  const reasons = () => served.lines('dead-letters', 'list');
  const isHeld = async () => (await reasons()).length === 2;
  await eventually(isHeld, { timeout: PATIENCE_MS, message: 'it was not held' });
  expect(await reasons()).toMatchObject([{ reason: 'deactivated' }, { reason: 'deactivated' }]);
  expect(await served.command('dead-letters', 'replay')).toMatchObject({
    stdout: '0 replayed\n',
    stderr: expect.stringMatching(/^2 not replayed: for webhooks that are switched off/),
  });
  expect(requestsAt(DEAD)).toBe(before);
  await served.addWebhook(DEAD);
  expect((await webhookAt(DEAD))?.isActive).toBe(true);
  expect((await served.command('dead-letters', 'replay')).stdout).toMatch(/2 replayed\n$/);
  const isSent = () => requestsAt(DEAD) >= before + 2;
  await eventually(isSent, { timeout: PATIENCE_MS, message: 'what was replayed was not sent' });
});

test('one that takes something in between stays, and begins anew', async () => {
  await served.publish(paymentEvents(42, 1, 'flaky-').replace('cash_in', 'cash_out'));
  const types = async () =>
    (await history()).filter(({ data }) => data.endpoint?.endsWith(FLAKY)).map(({ type }) => type);
  const recovered = async () => (await types()).includes('EndpointRecovered');
  await eventually(recovered, { timeout: PATIENCE_MS, message: 'it was not noted, or did not recover' });
  expect(await types()).toEqual(['WebhookAdded', 'EndpointFailing', 'EndpointRecovered']);
  expect((await webhookAt(FLAKY))?.isActive).toBe(true);
});
