import { activeAt, activeSpans, wasActive } from '../../src/audit/active-webhooks.js';
import { NO_STREAM, type RecordedEvent } from '../../src/ports/event-store.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { WebhookEvent } from '../../src/webhooks/events.js';
import { AT, added, registered } from '../support/webhook-samples.js';

const projection = loadProjection('account-webhooks');

async function* history(events: readonly { type: string; data: object }[]): AsyncIterable<RecordedEvent> {
  for (const [revision, { type, data }] of events.entries()) {
    yield { id: '', stream: 'account-42', position: '', metadata: {}, revision, type, data: { ...data } };
  }
}

const spansOf = (events: readonly { type: string; data: object }[]) => activeSpans(history(events), projection);
const remove = (webhookId: number): WebhookEvent => ({ type: 'WebhookRemoved', data: { webhookId, removedAt: AT } });
const deactivate = (webhookId: number): WebhookEvent => ({
  type: 'WebhookDeactivated',
  data: { webhookId, reason: 'test', deactivatedAt: AT },
});
const deactivateByService = (webhookId: number): WebhookEvent => ({
  type: 'WebhookDeactivated',
  data: { webhookId, reason: 'test', by: 'service', deactivatedAt: AT },
});
const activate = (webhookId: number): WebhookEvent => ({
  type: 'WebhookActivated',
  data: { webhookId, activatedAt: AT },
});

describe('the webhooks that were active', () => {
  const story = [registered(), added(1), added(2), deactivate(1), remove(2), activate(1)];
  test.each([
    [NO_STREAM, []],
    [0, []],
    [1, [1]],
    [2, [1, 2]],
    [3, [2]],
    [4, []],
    [5, [1]],
    [99, [1]],
  ])('at revision %i are %j: that of a change counts', async (revision, active) => {
    expect(activeAt(await spansOf(story), 'cash_in', revision)).toEqual(active);
  });

  test('are also those that the service switched off, until the account does', async () => {
    const spans = await spansOf([registered(), added(1), deactivateByService(1), deactivate(1), activate(1)]);
    expect([1, 2, 3, 4].map((revision) => activeAt(spans, 'cash_in', revision))).toEqual([[1], [1], [], [1]]);
  });

  test('are those of the type', async () => {
    const spans = await spansOf([registered(), added(1), added(2, { eventType: 'cash_out' })]);
    expect([activeAt(spans, 'cash_in', 2), activeAt(spans, 'cash_out', 2)]).toEqual([[1], [2]]);
    expect(wasActive(spans, { webhookId: 2, eventType: 'cash_in' }, 2)).toBe(false);
  });

  test('before a revision are also those that were removed since, and none that came later', async () => {
    const spans = await spansOf(story);
    const was = (webhookId: number, revision: number) =>
      wasActive(spans, { webhookId, eventType: 'cash_in' }, revision);
    expect([was(2, 5), was(2, 2), was(2, 1), was(3, 5)]).toEqual([true, true, false, false]);
  });

  test('change with no update, and with no event of a later release; both count as revisions', async () => {
    const { createdAt, ...configuration } = added(1).data;
    const updated = { type: 'WebhookUpdated', data: { ...configuration, version: 2, updatedAt: createdAt } };
    const painted = { type: 'WebhookPainted', data: { webhookId: 1 } };
    const until = Number.POSITIVE_INFINITY;
    const spans = [{ webhookId: 1, eventType: 'cash_in', from: 1, until }];
    expect(await spansOf([registered(), added(1), updated, painted])).toEqual({ spans, revision: 3 });
  });

  test('are none of an account that is unknown', async () => {
    expect(await spansOf([])).toEqual({ spans: [], revision: NO_STREAM });
  });
});
