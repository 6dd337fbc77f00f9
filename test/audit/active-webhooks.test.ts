import { describe, expect, test } from '@jest/globals';
import { activeAt, activeSpans } from '../../src/audit/active-webhooks.js';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { loadProjection } from '../../src/read-model/projection-source.js';
import type { AccountEvent, WebhookEvent } from '../../src/webhooks/events.js';
import { added, registered } from '../support/webhook-samples.js';

const projection = loadProjection('account-webhooks');
const time = (minute: number) => `2026-11-21T09:${String(minute).padStart(2, '0')}:00.000Z`;
const ms = (minute: number) => Date.parse(time(minute));

async function* history(events: readonly { type: string; data: object }[]): AsyncIterable<RecordedEvent> {
  for (const [revision, { type, data }] of events.entries()) {
    yield { id: '', stream: 'account-42', position: '', metadata: {}, revision, type, data: { ...data } };
  }
}

async function dueAt(minute: number, events: readonly AccountEvent[], eventType: 'cash_in' | 'cash_out' = 'cash_in') {
  const spans = await activeSpans(history([registered(), ...events]), projection);
  return activeAt(spans, eventType, ms(minute)).map(({ webhookId }) => webhookId);
}

const add = (webhookId: number, minute: number, eventType: 'cash_in' | 'cash_out' = 'cash_in') =>
  added(webhookId, { eventType, createdAt: time(minute) });
const remove = (webhookId: number, minute: number): WebhookEvent => ({
  type: 'WebhookRemoved',
  data: { webhookId, removedAt: time(minute) },
});
const deactivate = (webhookId: number, minute: number): WebhookEvent => ({
  type: 'WebhookDeactivated',
  data: { webhookId, reason: 'test', deactivatedAt: time(minute) },
});
const activate = (webhookId: number, minute: number): WebhookEvent => ({
  type: 'WebhookActivated',
  data: { webhookId, activatedAt: time(minute) },
});

describe('the webhooks an event is due to', () => {
  const story = [add(1, 10), add(2, 20), deactivate(1, 30), remove(2, 40), activate(1, 50)];
  test.each([
    [9, []],
    [10, [1]],
    [19, [1]],
    [20, [1, 2]],
    [29, [1, 2]],
    [30, [2]],
    [40, []],
    [50, [1]],
    [59, [1]],
  ])('at minute %i are %j: that of a change counts', async (minute, due) => {
    expect(await dueAt(minute, story)).toEqual(due);
  });

  test("are those of the event's type", async () => {
    const events = [add(1, 10), add(2, 10, 'cash_out')];
    expect(await dueAt(10, events)).toEqual([1]);
    expect(await dueAt(10, events, 'cash_out')).toEqual([2]);
  });

  test('an update changes nothing of it', async () => {
    const { createdAt, ...configuration } = add(1, 10).data;
    const updated: WebhookEvent = {
      type: 'WebhookUpdated',
      data: { ...configuration, version: 2, updatedAt: time(20) },
    };
    const spans = await activeSpans(history([registered(), add(1, 10), updated]), projection);
    const until = Number.POSITIVE_INFINITY;
    expect(spans).toEqual([{ webhookId: 1, eventType: 'cash_in', from: ms(10), until }]);
  });

  test('where the clocks of two processes differ, what came later is not earlier', async () => {
    const events = [add(1, 20), deactivate(1, 15)];
    expect(await dueAt(15, events)).toEqual([]);
    expect(await dueAt(20, events)).toEqual([]);
  });

  test('an event that says no time counts with the one before it; one of a later release changes nothing', async () => {
    const events = [registered(), add(1, 10), { type: 'WebhookRemoved', data: { webhookId: 1 } }];
    const painted = { type: 'WebhookPainted', data: { webhookId: 1, paintedAt: time(20) } };
    const spans = await activeSpans(history([...events, painted]), projection);
    expect(spans).toMatchObject([{ from: ms(10), until: ms(10) }]);
  });

  test('none of an account that is unknown', async () => {
    expect(await activeSpans(history([]), projection)).toEqual([]);
  });
});
