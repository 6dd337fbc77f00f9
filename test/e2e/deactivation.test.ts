import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type ServiceHere, serveHere } from '../support/in-process-service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import type { Settings } from '../support/service.js';
import { addWebhook, installation, paymentEvents, register, tokenFor } from '../support/story.js';

const ACCOUNT = 42;
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

let receiver: Receiver;
let settings: Settings;
let remove: () => Promise<void>;
let service: ServiceHere;
let token: string;

beforeAll(async () => {
  receiver = await startReceiver({
    respond: ({ path }) => ({ status: path === FLAKY && requestsAt(FLAKY) > FAILURES ? 200 : 500 }),
  });
  const installed = await installation([receiver]);
  ({ remove } = installed);
  // Noted after a second, deactivated with the ninth failure: before the schedule ends, and before the breaker opens.
  const RETRY_SCHEDULE = Array(20).fill('700ms').join();
  settings = { ...installed.settings, RETRY_SCHEDULE, DEACTIVATE_AFTER: '5s' };
  service = await serveHere(settings);
  token = await tokenFor(service.url, await register(settings, ACCOUNT));
  for (const [path, eventType] of [
    [DEAD, 'cash_in'],
    [FLAKY, 'cash_out'],
  ] as const) {
    await addWebhook(service.url, token, { url: receiver.url + path, eventType });
  }
});

afterAll(async () => {
  await service.stop();
  await receiver.close();
  await remove();
});

async function webhookAt(path: string): Promise<Webhook | undefined> {
  const response = await fetch(`${service.url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
  const { webhooks } = (await response.json()) as { webhooks: Webhook[] };
  return webhooks.find(({ url }) => url === receiver.url + path);
}

async function history(): Promise<Entry[]> {
  const { stdout } = await commandLine(settings, ['audit', 'log', '--account', String(ACCOUNT), '--json']);
  return stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Entry] : []));
}

const publish = (events: string) => commandLine(settings, ['events', 'publish'], events);
const requestsAt = (path: string) => receiver.requests.filter((request) => request.path === path).length;

test('a URL that takes nothing for DEACTIVATE_AFTER is deactivated, and the history says why', async () => {
  await publish(paymentEvents(ACCOUNT, 1));
  const isInactive = async () => (await webhookAt(DEAD))?.isActive === false;
  await eventually(isInactive, { timeout: PATIENCE_MS, message: 'it was not deactivated' });
  const ofDispatcher = (await history()).filter(({ actor }) => actor === 'dispatcher');
  expect(ofDispatcher.map(({ type }) => type)).toEqual([
    ...['EndpointFailing', 'DeactivationAnnounced', 'WebhookDeactivated'],
  ]);
  expect(ofDispatcher[2]?.data.reason).toMatch(/^nothing was delivered since \d{4}-/);
  const ended = async () => {
    const { stdout } = await commandLine(settings, ['deliveries', 'list', '--account', String(ACCOUNT), '--json']);
    return (JSON.parse(stdout) as { outcome: string }).outcome === 'exhausted';
  };
  await eventually(ended, { timeout: PATIENCE_MS, message: 'its delivery has no end' });
});

test('a payment that comes then is held; a replay sends it, and the one that ended, once the webhook is active', async () => {
  const before = requestsAt(DEAD);
  await publish(paymentEvents(ACCOUNT, 1, 'held-'));
  const reasons = async () => {
    const { stdout } = await commandLine(settings, ['dead-letters', 'list', '--json']);
    return stdout.split('\n').flatMap((line) => (line ? [JSON.parse(line) as { reason: string }] : []));
  };
  const isHeld = async () => (await reasons()).length === 2;
  await eventually(isHeld, { timeout: PATIENCE_MS, message: 'it was not held' });
  expect(await reasons()).toMatchObject([{ reason: 'deactivated' }, { reason: 'deactivated' }]);
  expect(await commandLine(settings, ['dead-letters', 'replay'])).toMatchObject({
    stdout: '0 replayed\n',
    stderr: expect.stringMatching(/^2 not replayed: for webhooks that are switched off/),
  });
  expect(requestsAt(DEAD)).toBe(before);
  await addWebhook(service.url, token, { url: receiver.url + DEAD, eventType: 'cash_in' });
  expect((await webhookAt(DEAD))?.isActive).toBe(true);
  expect((await commandLine(settings, ['dead-letters', 'replay'])).stdout).toMatch(/2 replayed\n$/);
  const isSent = () => requestsAt(DEAD) >= before + 2;
  await eventually(isSent, { timeout: PATIENCE_MS, message: 'what was replayed was not sent' });
});

test('one that takes something in between stays, and begins anew', async () => {
  await publish(paymentEvents(ACCOUNT, 1, 'flaky-').replace('cash_in', 'cash_out'));
  const types = async () =>
    (await history()).filter(({ data }) => data.endpoint?.endsWith(FLAKY)).map(({ type }) => type);
  const recovered = async () => (await types()).includes('EndpointRecovered');
  await eventually(recovered, { timeout: PATIENCE_MS, message: 'it was not noted, or did not recover' });
  expect(await types()).toEqual(['WebhookAdded', 'EndpointFailing', 'EndpointRecovered']);
  expect((await webhookAt(FLAKY))?.isActive).toBe(true);
});
