/** A URL that fails: what its account is told, what its history says, and what becomes of payments once it is off. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Notice } from '../../src/delivery/notices/notice.js';
import { eventually } from '../support/clocks/eventually.js';
import { Served } from '../support/scenes/served.js';
import { paymentEvents, register, tokenFor } from '../support/scenes/story.js';

const OTHER = 43;
const NOTICES = '/notices';
const PATIENCE_MS = 30_000;
const HEADER = 'planted-header-of-a-webhook';
const NOTICE_HEADER = 'planted-header-of-notices';

const begun = Date.now();

/** The answer of each path; 200 for any other. */
const status = new Map<string, number>();
const served = Served.around({
  respond: ({ path }) => ({ status: status.get(path) ?? 200 }),
  // Noted after 1.2 s, announced after 4.8 s, deactivated after 6 s: before the breaker opens.
  settings: { RETRY_SCHEDULE: Array(20).fill('900ms').join(), DEACTIVATE_AFTER: '6s' },
});

beforeAll(async () => {
  const { service, settings, token } = served;
  await set(token, NOTICES);
  await set(await tokenFor(service.url, await register(settings, OTHER)), '/notices-of-another');
});

async function set(token: string, path: string): Promise<void> {
  const json = { url: served.receiver.url + path, headers: [{ key: 'X-Key', value: NOTICE_HEADER }] };
  expect((await served.ask('PUT', '/api/notices', json, token)).status).toBe(200);
}

interface Entry {
  readonly type: string;
  readonly actor: string;
  readonly data: { readonly endpoint?: string; readonly reason?: string };
}

/** What the service itself decided. */
const decided = async () =>
  (await served.lines<Entry>('audit', 'log', '--account', '42')).filter(({ actor }) => actor === 'dispatcher');
const decidedOf = async (path: string) =>
  (await decided()).flatMap(({ type, data }) => (data.endpoint?.endsWith(path) ? [type] : []));
const letters = () => served.lines('dead-letters', 'list');

async function publish(path: string, eventType: string): Promise<void> {
  expect(await served.addWebhook(path, eventType, [{ key: 'X-Api-Key', value: HEADER }])).toBe(200);
  await served.publish(paymentEvents(42, 1, `${path}-`).replace('cash_in', eventType));
}

const at = (path: string) => served.receiver.requests.filter((request) => request.path === path);
const noticesOf = (path: string) =>
  at(NOTICES)
    .map(({ body }) => JSON.parse(body.toString()) as Notice)
    .filter(({ data }) => data.url.endsWith(path));

/** Without those that came a second time. */
async function typesOnce(path: string, count: number): Promise<string[]> {
  const once = () => [...new Map(noticesOf(path).map((notice) => [notice.id, notice.type])).values()];
  await eventually(() => once().length >= count, { timeout: PATIENCE_MS, message: `notices of ${path}` });
  return once();
}

test('an account is told that a URL fails, and that it recovered', async () => {
  status.set('/flaky', 503);
  await publish('/flaky', 'cash_in');
  await typesOnce('/flaky', 1);
  status.set('/flaky', 200);
  expect(await typesOnce('/flaky', 2)).toEqual(['webhook_failing', 'webhook_recovered']);
  const [notice] = noticesOf('/flaky');
  expect(notice).toMatchObject({ accountId: 42, data: { eventType: 'cash_in', lastFailure: { status: 503 } } });
  expect(await decidedOf('/flaky')).toEqual(['EndpointFailing', 'EndpointRecovered']);
});

test('an account is told before and when a URL is switched off', async () => {
  status.set('/dead', 500);
  await publish('/dead', 'cash_out');
  expect(await typesOnce('/dead', 3)).toEqual(['webhook_failing', 'webhook_failing', 'webhook_deactivated']);
  const [, announced, off] = noticesOf('/dead');
  expect(announced?.data.reason).toContain(`deactivated at ${announced?.data.deactivatesAt}`);
  expect(off?.data).toMatchObject({ reason: expect.stringContaining('nothing was delivered'), deactivatesAt: null });
  expect(await decidedOf('/dead')).toEqual(['EndpointFailing', 'DeactivationAnnounced']);
  expect((await decided()).at(-1)).toMatchObject({
    type: 'WebhookDeactivated',
    data: { reason: expect.stringMatching(/^nothing was delivered since \d{4}-/) },
  });
});

test('its delivery ends, and a payment that comes then is held; a replay sends both, once the webhook is active', async () => {
  await eventually(async () => (await letters()).length === 1, { timeout: PATIENCE_MS });
  const before = at('/dead').length;
  await served.publish(paymentEvents(42, 1, 'held-').replace('cash_in', 'cash_out'));
  await eventually(async () => (await letters()).length === 2, { timeout: PATIENCE_MS, message: 'it was not held' });
  expect(await letters()).toMatchObject([{ reason: 'deactivated' }, { reason: 'deactivated' }]);
  expect(await served.command('dead-letters', 'replay')).toMatchObject({
    stdout: '0 replayed\n',
    stderr: expect.stringMatching(/^2 not replayed: for webhooks that are switched off/),
  });
  expect(at('/dead')).toHaveLength(before);
  status.set('/dead', 200);
  expect(await served.addWebhook('/dead', 'cash_out')).toBe(200);
  expect((await served.command('dead-letters', 'replay')).stdout).toMatch(/2 replayed\n$/);
  await eventually(() => at('/dead').length === before + 2, { timeout: PATIENCE_MS });
});

test('no other account gets them, they are no deliveries, and no header value or secret is in one', async () => {
  expect(at('/notices-of-another')).toEqual([]);
  const { stdout } = await served.command('deliveries', 'list', '--account', '42', '--json');
  expect(stdout).not.toContain(NOTICES);
  const period = ['--from', new Date(begun).toISOString(), '--to', new Date().toISOString()];
  expect(await served.command('audit', 'completeness', ...period)).toMatchObject({ code: 0 });
  for (const { body } of at(NOTICES)) {
    expect(body.toString()).not.toMatch(new RegExp(`${HEADER}|${NOTICE_HEADER}|whsec_`));
  }
  const store = readFileSync(join(served.settings.DATA_DIR ?? '', 'store.sqlite'), 'latin1');
  for (const secret of [HEADER, NOTICE_HEADER, served.account.signingSecret]) expect(store).not.toContain(secret);
});
