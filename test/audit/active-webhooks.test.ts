import { activeSpans } from '../../src/audit/active-webhooks.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { WebhookEvent } from '../../src/webhooks/events.js';
import { AT, added, registered } from '../support/generators/webhook-samples.js';

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

const span = (webhook: number, since: number, until = Number.POSITIVE_INFINITY) => {
  return { webhook, type: 'cash_in', since, until };
};

describe('the revisions at which webhooks were active', () => {
  test('begin with that of the event that added or activated one, and end before that of its end', async () => {
    const story = [registered(), added(1), added(2), deactivate(1), remove(2), activate(1)];
    const spans = [span(1, 1, 3), span(2, 2, 4), span(1, 5)];
    expect(await spansOf(story)).toEqual({ spans, revision: 5 });
  });

  test('go on while the service has it switched off, until the account does', async () => {
    const story = [registered(), added(1), deactivateByService(1), deactivate(1), activate(1)];
    expect((await spansOf(story)).spans).toEqual([span(1, 1, 3), span(1, 4)]);
  });

  test('are known up to the event that can’t be read', async () => {
    const story = [registered(), added(1), { type: 'WebhookAdded', data: {} }, added(2)];
    expect(await spansOf(story)).toEqual({ spans: [span(1, 1)], revision: 1 });
  });

  test('change with no update, and with no event of a later release; both count as revisions', async () => {
    const { createdAt, ...configuration } = added(1).data;
    const updated = { type: 'WebhookUpdated', data: { ...configuration, version: 2, updatedAt: createdAt } };
    const painted = { type: 'WebhookPainted', data: { webhookId: 1 } };
    const spans = [span(1, 1)];
    expect(await spansOf([registered(), added(1), updated, painted])).toEqual({ spans, revision: 3 });
  });
});
