/**
 * A dispatcher is killed; before another takes over, the service switches one of the URLs off. Its payments are held, and a
 * replay sends them once the webhook is active again.
 */
import { eventually } from '../support/eventually.js';
import { FaultScene } from '../support/fault-scene.js';
import { commandLine } from '../support/in-process-cli.js';
import type { ReceivedRequest, Reply } from '../support/receiver.js';
import { jsonLines, type Service } from '../support/service.js';
import { addWebhook, paymentEvents } from '../support/story.js';

const ACCOUNT = 7;
const EVENTS = 30;
const GONE = '/gone';
const PATIENCE_MS = 30_000;
const PATIENCE = { timeout: PATIENCE_MS };
/** Another installation on the same event store: what it learns of a URL, the killed one has to obey. */
const OTHER = { TOPIC_PREFIX: 'other.', KAFKA_GROUP: 'other', PAYMENT_TOPICS: 'other-payments' };

let scene: FaultScene;
afterEach(() => scene.close());

test('killed with payments in hand; then a 410 switches a URL off: all are sent or held, and none is lost', async () => {
  let reply: (request: ReceivedRequest) => Reply = () => 'hang';
  scene = await FaultScene.open(undefined, { respond: (request) => reply(request) });
  const from = new Date().toISOString();
  const killed = await scene.serve();
  const urls = scene.urls('/good', GONE);
  const token = await scene.account(killed, ACCOUNT, urls);
  await scene.publish(paymentEvents(ACCOUNT, EVENTS, 'due-'), urls);
  await eventually(() => scene.receiver.requests.length >= 2, PATIENCE);
  await killed.stop('SIGKILL');

  reply = ({ path }) => ({ status: path === GONE ? 410 : 200 });
  const other = await scene.serve(OTHER);
  const poke = paymentEvents(ACCOUNT, 1, 'poke-');
  scene.oracle.maybe(poke, urls);
  await commandLine({ ...scene.settings, ...OTHER }, ['events', 'publish'], poke);
  await eventually(async () => !(await isActive(other, token)), PATIENCE);
  expect(await other.stop('SIGTERM')).toBe(0);

  // Another process showed its own event before it was folded, and a dispatcher routes by what was folded.
  const reader = await scene.serve({}, ['--roles', 'api']);
  await eventually(async () => !(await isActive(reader, token)), PATIENCE);
  expect(await reader.stop('SIGTERM')).toBe(0);

  reply = () => ({ status: 200 });
  const next = await scene.serve();
  await eventually(async () => (await letters()).length === EVENTS, PATIENCE);
  expect(new Set((await letters()).map(({ reason }) => reason))).toEqual(new Set(['deactivated']));
  expect((await commandLine(scene.settings, ['dead-letters', 'replay'])).stdout).toBe('0 replayed\n');
  await eventually(async () => (await audit(from)).counts.delivered === EVENTS, PATIENCE);
  const held = { deliveries: 2 * EVENTS, exhausted: EVENTS, unanswered: 0, unexpected: 0 };
  expect(await audit(from)).toMatchObject({ code: 0, counts: held });

  expect(await addWebhook(next.url, token, { url: scene.receiver.url + GONE, eventType: 'cash_in' })).toBe(200);
  await commandLine(scene.settings, ['dead-letters', 'replay']);
  await scene.nothingLost(PATIENCE_MS);
  expect(await next.stop('SIGTERM')).toBe(0);
  const verdict = scene.oracle.report(`killed, and a URL is switched off before the take-over, ${EVENTS} held`);
  expect(verdict).toMatchObject({ pairs: 2 * EVENTS, lost: 0, differing: 0, unexpected: 0 });
  expect(await audit(from)).toMatchObject({ code: 0, counts: { delivered: 2 * EVENTS } });
});

async function isActive({ url }: Service, token: string): Promise<boolean> {
  const response = await fetch(`${url}/api/webhooks`, { headers: { authorization: `Bearer ${token}` } });
  const { webhooks } = (await response.json()) as { webhooks: { url: string; isActive: boolean }[] };
  return webhooks.some((webhook) => webhook.url.endsWith(GONE) && webhook.isActive);
}

async function letters() {
  const { stdout } = await commandLine(scene.settings, ['dead-letters', 'list', '--json']);
  return jsonLines(stdout);
}

async function audit(from: string): Promise<{ code: number | null; counts: Record<string, unknown> }> {
  const period = ['--from', from, '--to', new Date(Date.now() + 60_000).toISOString()];
  const { code, stdout } = await commandLine(scene.settings, ['audit', 'completeness', ...period, '--json']);
  return { code, counts: jsonLines(stdout).at(-1) ?? {} };
}
