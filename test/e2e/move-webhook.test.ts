/** A webhook moves to another URL: where what waits for it, is sent again and is recovered goes, and what its attempts show. */
import { eventually } from '../support/eventually.js';
import { commandLine } from '../support/in-process-cli.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { Served } from '../support/served.js';
import { addWebhook, paymentEvents } from '../support/story.js';

const PATIENCE = { timeout: 30_000 };
const KEY = { key: 'X-Key', value: 'kept' };

let right: Receiver;
const served = Served.around({
  respond: () => ({ status: 500 }),
  settings: { RETRY_SCHEDULE: '100ms,3s', DELIVERY_TIMEOUT: '5s', ALLOWED_PORTS: '1-65535' },
});

beforeAll(async () => {
  right = await startReceiver();
  await served.addWebhook('/', 'cash_in', [KEY]);
});
afterAll(() => right.close());

interface Delivery {
  readonly id: string;
  readonly outcome: string;
  readonly attempts: readonly { readonly url?: string; readonly status: number; readonly version: number }[];
}

const get = <T>(path: string) => served.call<T>('GET', path);
const deliveryOf = async (eventId: string) =>
  (await get<{ deliveries: Delivery[] }>(`/api/deliveries?eventId=${eventId}`)).deliveries[0];
const attempted = (eventId: string, outcome: string, attempts: number) =>
  eventually(async () => {
    const found = await deliveryOf(eventId);
    return found?.outcome === outcome && found.attempts.length === attempts && found;
  }, PATIENCE);
const shown = async ({ id }: Delivery) =>
  (await get<{ delivery: Delivery }>(`/api/deliveries/${id}`)).delivery.attempts;
const command = (...args: string[]) =>
  commandLine(served.settings, [...args, '--url', served.service.url], served.token);

const hrefOf = ({ url }: Receiver) => new URL(url).href;
const at = (receiver: Receiver, status: number, version: number) => ({ url: hrefOf(receiver), status, version });

test('what waits, is sent again and is recovered goes to the new URL, with the headers that the webhook has', async () => {
  const given = ['given-up-0', 'recovered-0'];
  for (const id of given) await served.publish(paymentEvents(42, 1, id.slice(0, -1)));
  for (const id of given) await attempted(id, 'exhausted', 3);
  await served.publish(paymentEvents(42, 1, 'waits-'));
  await attempted('waits-0', 'retrying', 2);
  const moved = await command('webhooks', 'update', '1', right.url);
  expect(moved).toEqual({ code: 0, stdout: 'webhook updated\n', stderr: '' });

  const waited = await attempted('waits-0', 'delivered', 3);
  expect(await shown(waited)).toMatchObject([
    at(served.receiver, 500, 1),
    at(served.receiver, 500, 1),
    at(right, 200, 2),
  ]);
  const { id } = (await deliveryOf('given-up-0')) ?? { id: '' };
  expect((await command('deliveries', 'resend', id)).code).toBe(0);
  expect((await shown(await attempted('given-up-0', 'delivered', 4))).at(-1)).toMatchObject(at(right, 200, 2));
  const recovered = await command('webhooks', 'recover', '1', '--since', '2020-01-01', '--wait');
  expect(recovered).toMatchObject({ code: 0, stdout: expect.stringMatching(/^done: sent 1 of 1/) });
  expect(recovered.stderr).toMatch(/^1 deliveries, published from /);
  await attempted('recovered-0', 'delivered', 4);
  expect(right.requests.map(({ headers }) => headers['x-key'])).toEqual(Array(3).fill(KEY.value));
});

test('each attempt still shows its URL once the webhook was moved again and removed', async () => {
  const { code } = await command('webhooks', 'update', '1', `${right.url}/later`, '--header', 'X-Key: other', '--json');
  expect(code).toBe(0);
  const found = await deliveryOf('waits-0');
  if (!found) throw new Error('the delivery is gone');
  const before = [at(served.receiver, 500, 1), at(served.receiver, 500, 1), at(right, 200, 2)];
  expect(await shown(found)).toMatchObject(before);
  expect((await served.ask('DELETE', '/api/webhooks/1')).status).toBe(200);
  expect(await shown(found)).toMatchObject(before);
});

test('the command says what is refused, and changes only what is given', async () => {
  await addWebhook(served.service.url, served.token, { url: right.url, eventType: 'cash_out', headers: [KEY] });
  const [{ id } = { id: 0 }] = (await get<{ webhooks: { id: number }[] }>('/api/webhooks')).webhooks;
  const update = (...args: string[]) => command('webhooks', 'update', String(id), ...args);
  expect(await update()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('none of url, headers and isActive'),
  });
  expect(await update('http://example.com/')).toMatchObject({ code: 1, stderr: expect.stringMatching(/400.*url/) });
  expect(await update('--active', 'no')).toMatchObject({ code: 2 });
  expect(await update('--active', 'false')).toMatchObject({ code: 0, stdout: 'webhook deactivated\n' });
  expect(await update('--header', 'X-Other: 1')).toMatchObject({ code: 0 });
  expect(await get('/api/webhooks')).toMatchObject({
    webhooks: [{ id, url: right.url, headers: { 'X-Other': '1' }, isActive: false }],
  });
});

test('what waits for several webhooks of a URL goes where all of them are moved', async () => {
  const from = `${served.receiver.url}/several`;
  await served.call('POST', '/api/webhooks', { url: from, eventTypes: ['cash_in', 'refund_in'] });
  await served.publish(paymentEvents(42, 1, 'several-').replace('cash_in', 'refund_in'));
  await attempted('several-0', 'retrying', 2);
  const moved = await served.call('POST', '/api/webhooks/move', { from, to: `${right.url}/several` });
  expect(moved).toMatchObject({ success: true, moved: 2 });
  const arrived = await attempted('several-0', 'delivered', 3);
  expect((await shown(arrived)).at(-1)).toMatchObject({ url: `${right.url}/several`, status: 200, version: 2 });
});
