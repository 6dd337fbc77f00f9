import { randomUUID } from 'node:crypto';
import type { MinuteAttempts, WebhookHealth } from '../../src/ports/deliveries-view.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import { AT, added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { type BareApi, startBareApi } from '../support/scenes/bare-api.js';

const HOUR = 3_600_000;
const SINCE = '2026-11-03T11:00:00.000Z';
const ACTIVATED = '2026-11-03T20:00:00.000Z';
const DEACTIVATED_AFTER = '2026-11-04T11:00:00.000Z';

let api: BareApi;
let asked: number[];
let known: Map<number, Partial<WebhookHealth>>;
let attempts: MinuteAttempts[];

beforeEach(async () => {
  [asked, known, attempts] = [[], new Map(), []];
  const none = { lastSuccessAt: null, lastFailure: null, failingSince: null, waiting: 0, held: 0, exhausted: 0 };
  const view = viewOf((accountId) => {
    asked.push(accountId);
    const health = () => new Map([...known].map(([id, one]) => [id, { ...none, ...one }]));
    return { health, attempts: (from) => attempts.filter(({ at }) => at > from) };
  });
  api = await startBareApi({ parts: { view, deactivateAfterMs: 24 * HOUR } });
});
afterEach(() => api.close());

async function happened(...events: AccountEvent[]): Promise<void> {
  await api.store.append(accountStream(42), enveloped(events, CONTEXT, randomUUID), 0);
}

async function get(caller = 42) {
  const response = await fetch(`${api.url}/api/webhooks/health`, {
    headers: { authorization: `Bearer caller-${caller}` },
  });
  return { status: response.status, body: (await response.json()) as { webhooks: readonly object[] } };
}

/** Once the read model has the webhooks. */
async function webhooks(): Promise<readonly object[]> {
  const { body } = await get();
  return body.webhooks;
}

const nothing = {
  ...{ offBy: null, reason: null, deactivatesAt: null },
  ...{ failedShare: null, lastSuccessAt: null, lastFailure: null },
};
const none = { ...nothing, waiting: 0, held: 0 };
const failure = { at: Date.parse(SINCE), status: 503, error: null };
const shownFailure = { at: SINCE, status: 503, error: null };

it('a webhook is untried since its registration, and healthy after a success', async () => {
  known.set(2, { lastSuccessAt: Date.parse(SINCE), waiting: 3 });
  await happened(added(1), added(2));
  expect(await webhooks()).toEqual([
    { webhookId: 1, state: 'untried', since: AT, ...none },
    { webhookId: 2, state: 'healthy', since: null, ...none, lastSuccessAt: SINCE, waiting: 3 },
  ]);
  expect(asked).toEqual([42]);
});

const MINUTE = 60_000;
const minutesAgo = (minutes: number) => Date.now() - minutes * MINUTE;
const made = (webhookId: number, minutes: number, all: number, failed: number) =>
  attempts.push({ at: minutesAgo(minutes), webhookId, made: all, failed });

it.each<[string, string, number | null, Partial<WebhookHealth>]>([
  ['some of the last attempts failed', 'unsteady', 0.25, { lastSuccessAt: minutesAgo(1) }],
  ['all failed, for less than 10 minutes', 'unsteady', 0.25, { failingSince: minutesAgo(9) }],
  ['nothing was accepted for 10 minutes', 'failing', 0.25, { failingSince: minutesAgo(11) }],
])('where %s it is %s', async (_, state, failedShare, health) => {
  const at = health.failingSince ?? minutesAgo(2);
  known.set(1, { lastFailure: { ...failure, at }, ...health });
  made(1, 11, 100, 100);
  made(1, 9, 2, 1);
  made(1, 1, 2, 0);
  made(2, 1, 7, 7);
  await happened(added(1));
  const since = health.failingSince ? new Date(health.failingSince).toISOString() : null;
  const [shown] = await webhooks();
  expect(shown).toMatchObject({
    state,
    failedShare,
    since,
    deactivatesAt: state === 'failing' ? expect.any(String) : null,
  });
});

it('attempts at an earlier URL have no share in it', async () => {
  const updatedAt = new Date(minutesAgo(5)).toISOString();
  known.set(1, { lastSuccessAt: minutesAgo(1) });
  made(1, 7, 1, 1);
  made(1, 1, 2, 0);
  const data = { ...added(1).data, endpoint: 'https://shop.example.com/new', version: 2, updatedAt };
  await happened(added(1), { type: 'WebhookUpdated', data } as AccountEvent);
  expect(await webhooks()).toMatchObject([{ state: 'healthy', failedShare: 0 }]);
});

it('is failing since its first failure, or since its URL fails for another webhook', async () => {
  known.set(1, { failingSince: Date.parse(SINCE), lastFailure: failure, waiting: 1 });
  known.set(2, { lastSuccessAt: Date.parse(AT) });
  const endpoint = 'https://shop.example.com/2';
  await happened(added(1), added(2), {
    type: 'EndpointFailing',
    data: { endpoint, since: SINCE, notedAt: SINCE },
  } as AccountEvent);
  expect(await webhooks()).toMatchObject([
    { state: 'failing', since: SINCE, deactivatesAt: DEACTIVATED_AFTER, lastFailure: shownFailure, waiting: 1 },
    { state: 'failing', since: SINCE, deactivatesAt: DEACTIVATED_AFTER, lastSuccessAt: AT },
  ]);
});

it('is off since it was deactivated, says by whom and why, and no longer once it is active again', async () => {
  const off = (webhookId: number, more: object) =>
    ({
      type: 'WebhookDeactivated',
      data: { webhookId, reason: '410 Gone', deactivatedAt: SINCE, ...more },
    }) as AccountEvent;
  known.set(1, { failingSince: Date.parse(SINCE), lastFailure: failure, held: 9 });
  await happened(added(1), added(2), added(3), off(1, { by: 'service' }), off(2, {}), off(3, { by: 'service' }), {
    type: 'WebhookActivated',
    data: { webhookId: 3, activatedAt: SINCE },
  });
  expect(await webhooks()).toMatchObject([
    { state: 'off', since: SINCE, offBy: 'service', reason: '410 Gone', deactivatesAt: null, held: 9 },
    { state: 'off', since: SINCE, offBy: 'account', reason: '410 Gone' },
    { webhookId: 3, state: 'untried', ...nothing },
  ]);
});

it('failures before an activation count no longer, neither for its state nor for when it is deactivated', async () => {
  const activated = (webhookId: number): AccountEvent[] => [
    {
      type: 'WebhookDeactivated',
      data: { webhookId, reason: '410 Gone', by: 'service', deactivatedAt: SINCE },
    } as never,
    { type: 'WebhookActivated', data: { webhookId, activatedAt: ACTIVATED } },
  ];
  const [before, after] = [Date.parse(SINCE), Date.parse(ACTIVATED) + 1_000];
  known.set(1, { failingSince: before, lastFailure: failure });
  known.set(2, { failingSince: before, lastFailure: { ...failure, at: after } });
  known.set(3, { failingSince: after, lastFailure: { ...failure, at: after } });
  await happened(...[1, 2, 3].flatMap((id) => [added(id), ...activated(id)]));
  const deactivatesAt = (ms: number) => new Date(ms + 24 * HOUR).toISOString();
  expect(await webhooks()).toMatchObject([
    { state: 'untried', since: ACTIVATED, deactivatesAt: null, lastFailure: shownFailure },
    { state: 'failing', since: ACTIVATED, deactivatesAt: deactivatesAt(Date.parse(ACTIVATED)) },
    { state: 'failing', since: new Date(after).toISOString(), deactivatesAt: deactivatesAt(after) },
  ]);
});

it('counts nothing of the URL that a webhook had before', async () => {
  const url = 'https://shop.example.com/new';
  const moved = (webhookId: number) =>
    ({
      type: 'WebhookUpdated',
      data: { ...added(webhookId).data, url, endpoint: `${url}/${webhookId}`, version: 2, updatedAt: ACTIVATED },
    }) as AccountEvent;
  const [before, after] = [Date.parse(SINCE), Date.parse(ACTIVATED) + 1_000];
  known.set(1, { failingSince: before, lastFailure: failure, lastSuccessAt: before - 1, waiting: 1 });
  known.set(2, { lastSuccessAt: before });
  known.set(3, { failingSince: before, lastFailure: { ...failure, at: after } });
  known.set(4, { lastSuccessAt: after, lastFailure: failure });
  await happened(...[1, 2, 3, 4].flatMap((id) => [added(id), moved(id)]));
  expect(await webhooks()).toEqual([
    { webhookId: 1, state: 'untried', since: ACTIVATED, ...none, waiting: 1 },
    { webhookId: 2, state: 'untried', since: ACTIVATED, ...none },
    expect.objectContaining({ webhookId: 3, state: 'failing', since: ACTIVATED }),
    { webhookId: 4, state: 'healthy', since: null, ...none, lastSuccessAt: new Date(after).toISOString() },
  ]);
});

it.each(['dns', 'forbidden-address'])('does not tell %s apart: that would say which names we have', async (error) => {
  known.set(1, { failingSince: 1, lastFailure: { at: 1, status: null, error } });
  await happened(added(1));
  expect(await webhooks()).toMatchObject([{ lastFailure: { status: null, error: 'host' } }]);
});
