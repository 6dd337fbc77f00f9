import { randomUUID } from 'node:crypto';
import type { MinuteAttempts, WebhookHealth } from '../../src/ports/deliveries-view.js';
import { enveloped } from '../../src/webhooks/envelope.js';
import { type AccountEvent, accountStream } from '../../src/webhooks/events.js';
import { AT, added, CONTEXT } from '../support/generators/webhook-samples.js';
import { viewOf } from '../support/scenes/account-view.js';
import { startBareApi } from '../support/scenes/bare-api.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const SINCE = '2026-11-03T11:00:00.000Z';
const ACTIVATED = '2026-11-03T20:00:00.000Z';
const DEACTIVATED_AFTER = '2026-11-04T11:00:00.000Z';

const NONE = { lastSuccessAt: null, lastFailure: null, failingSince: null, waiting: 0, held: 0, exhausted: 0 };

/** What is shown after these events, where the view knows this of the webhooks, in their order. */
async function shown(
  events: readonly AccountEvent[],
  known: readonly Partial<WebhookHealth>[],
  attempts: readonly MinuteAttempts[] = [],
): Promise<readonly object[]> {
  const health = () => new Map(known.map((one, index) => [index + 1, { ...NONE, ...one }]));
  const view = viewOf({ health, attempts: (from) => attempts.filter(({ at }) => at > from) });
  const api = await startBareApi({ parts: { view, deactivateAfterMs: 24 * HOUR } });
  try {
    await api.store.append(accountStream(42), enveloped(events, CONTEXT, randomUUID), 0);
    const { body } = await api.client().send<{ webhooks: object[] }>('GET', '/api/webhooks/health');
    return body.webhooks;
  } finally {
    await api.close();
  }
}

const event = (type: AccountEvent['type'], data: object) => ({ type, data }) as AccountEvent;
const off = (webhookId: number, more: object = { by: 'service' }) =>
  event('WebhookDeactivated', { webhookId, reason: '410 Gone', deactivatedAt: SINCE, ...more });
const on = (webhookId: number, activatedAt: string) => event('WebhookActivated', { webhookId, activatedAt });
const moved = (webhookId: number, updatedAt: string) => {
  const url = `https://shop.example.com/new/${webhookId}`;
  return event('WebhookUpdated', { ...added(webhookId).data, url, endpoint: url, version: 2, updatedAt });
};

const nothing = {
  ...{ offBy: null, reason: null, deactivatesAt: null },
  ...{ failedShare: null, lastSuccessAt: null, lastFailure: null },
};
const none = { ...nothing, waiting: 0, held: 0, exhausted: 0 };
const failure = { at: Date.parse(SINCE), status: 503, error: null };
const shownFailure = { at: SINCE, status: 503, error: null };
const minutesAgo = (minutes: number) => Date.now() - minutes * MINUTE;
const made = (webhookId: number, minutes: number, all: number, failed: number) =>
  ({ at: minutesAgo(minutes), webhookId, made: all, failed }) satisfies MinuteAttempts;

it('a webhook is untried since its registration, and healthy after a success', async () => {
  const known = [{}, { lastSuccessAt: Date.parse(SINCE), waiting: 3, exhausted: 5 }];
  expect(await shown([added(1), added(2)], known)).toEqual([
    { webhookId: 1, state: 'untried', since: AT, ...none },
    { webhookId: 2, state: 'healthy', since: null, ...none, lastSuccessAt: SINCE, waiting: 3, exhausted: 5 },
  ]);
});

it.each<[string, string, number | null, Partial<WebhookHealth>]>([
  ['some of the last attempts failed', 'unsteady', 0.25, { lastSuccessAt: minutesAgo(1) }],
  ['all failed, for less than 10 minutes', 'unsteady', 0.25, { failingSince: minutesAgo(9) }],
  ['nothing was accepted for 10 minutes', 'failing', 0.25, { failingSince: minutesAgo(11) }],
])('where %s it is %s', async (_, state, failedShare, health) => {
  const known = { lastFailure: { ...failure, at: health.failingSince ?? minutesAgo(2) }, ...health };
  const attempts = [made(1, 11, 100, 100), made(1, 9, 2, 1), made(1, 1, 2, 0), made(2, 1, 7, 7)];
  const since = health.failingSince ? new Date(health.failingSince).toISOString() : null;
  const deactivatesAt = state === 'failing' ? expect.any(String) : null;
  expect(await shown([added(1)], [known], attempts)).toMatchObject([{ state, failedShare, since, deactivatesAt }]);
});

it('attempts at an earlier URL have no share in it', async () => {
  const events = [added(1), moved(1, new Date(minutesAgo(5)).toISOString())];
  const attempts = [made(1, 7, 1, 1), made(1, 1, 2, 0)];
  const known = [{ lastSuccessAt: minutesAgo(1) }];
  expect(await shown(events, known, attempts)).toMatchObject([{ state: 'healthy', failedShare: 0 }]);
});

it('is failing since its first failure, or since its URL fails for another webhook', async () => {
  const noted = { endpoint: 'https://shop.example.com/2', since: SINCE, notedAt: SINCE };
  const known = [
    { failingSince: Date.parse(SINCE), lastFailure: failure, waiting: 1 },
    { lastSuccessAt: Date.parse(AT) },
  ];
  expect(await shown([added(1), added(2), event('EndpointFailing', noted)], known)).toMatchObject([
    { state: 'failing', since: SINCE, deactivatesAt: DEACTIVATED_AFTER, lastFailure: shownFailure, waiting: 1 },
    { state: 'failing', since: SINCE, deactivatesAt: DEACTIVATED_AFTER, lastSuccessAt: AT },
  ]);
});

it('is off since it was deactivated, says by whom and why, and no longer once it is active again', async () => {
  const known = [{ failingSince: Date.parse(SINCE), lastFailure: failure, held: 9 }];
  const events = [added(1), added(2), added(3), off(1), off(2, {}), off(3), on(3, SINCE)];
  expect(await shown(events, known)).toMatchObject([
    { state: 'off', since: SINCE, offBy: 'service', reason: '410 Gone', deactivatesAt: null, held: 9 },
    { state: 'off', since: SINCE, offBy: 'account', reason: '410 Gone' },
    { webhookId: 3, state: 'untried', ...nothing },
  ]);
});

it('failures before an activation count no longer, neither for its state nor for when it is deactivated', async () => {
  const [before, after] = [Date.parse(SINCE), Date.parse(ACTIVATED) + 1_000];
  const known = [
    { failingSince: before, lastFailure: failure },
    { failingSince: before, lastFailure: { ...failure, at: after } },
    { failingSince: after, lastFailure: { ...failure, at: after } },
  ];
  const events = [1, 2, 3].flatMap((id) => [added(id), off(id), on(id, ACTIVATED)]);
  const deactivatesAt = (ms: number) => new Date(ms + 24 * HOUR).toISOString();
  expect(await shown(events, known)).toMatchObject([
    { state: 'untried', since: ACTIVATED, deactivatesAt: null, lastFailure: shownFailure },
    { state: 'failing', since: ACTIVATED, deactivatesAt: deactivatesAt(Date.parse(ACTIVATED)) },
    { state: 'failing', since: new Date(after).toISOString(), deactivatesAt: deactivatesAt(after) },
  ]);
});

it('counts nothing of the URL that a webhook had before', async () => {
  const [before, after] = [Date.parse(SINCE), Date.parse(ACTIVATED) + 1_000];
  const known = [
    { failingSince: before, lastFailure: failure, lastSuccessAt: before - 1, waiting: 1 },
    { failingSince: before, lastFailure: { ...failure, at: after } },
    { lastSuccessAt: after, lastFailure: failure },
  ];
  const events = [1, 2, 3].flatMap((id) => [added(id), moved(id, ACTIVATED)]);
  expect(await shown(events, known)).toEqual([
    { webhookId: 1, state: 'untried', since: ACTIVATED, ...none, waiting: 1 },
    expect.objectContaining({ webhookId: 2, state: 'failing', since: ACTIVATED }),
    { webhookId: 3, state: 'healthy', since: null, ...none, lastSuccessAt: new Date(after).toISOString() },
  ]);
});

it('does not tell which names our network has', async () => {
  const known = [{ failingSince: 1, lastFailure: { at: 1, status: null, error: 'dns' } }];
  expect(await shown([added(1)], known)).toMatchObject([{ lastFailure: { status: null, error: 'host' } }]);
});
