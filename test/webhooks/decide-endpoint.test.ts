import { AT, added, LAST_FAILURE, registered } from '../support/generators/webhook-samples.js';
import { given } from '../support/scenes/aggregate-spec.js';

const ENDPOINT = 'https://shop.example.com/1';
const HOUR = 3_600_000;
const OFF = '2026-11-06T10:00:00.000Z';
const NOTED = '2026-11-05T10:00:00.000Z';
const sinceThen = (ms: number) => new Date(Date.parse(AT) + ms).toISOString();

const about = { endpoint: ENDPOINT, since: AT, deactivatesAt: OFF, lastFailure: LAST_FAILURE };
const failing = { type: 'EndpointFailing', data: { ...about, notedAt: NOTED } } as const;
const announced = { type: 'DeactivationAnnounced', data: { ...about, announcedAt: NOTED } } as const;
const announcedFor = (deactivatesAt: string) =>
  ({ type: 'DeactivationAnnounced', data: { ...about, deactivatesAt, announcedAt: NOTED } }) as const;
const recovered = { type: 'EndpointRecovered', data: { endpoint: ENDPOINT, since: AT, recoveredAt: NOTED } } as const;
const note = { type: 'NoteEndpointFailing', ...about, at: NOTED } as const;
const announce = {
  type: 'AnnounceDeactivation',
  endpoint: ENDPOINT,
  deactivatesAt: OFF,
  lastFailure: LAST_FAILURE,
  at: NOTED,
} as const;
const noteRecovered = { type: 'NoteEndpointRecovered', endpoint: ENDPOINT, at: NOTED } as const;
const deactivate = (at: string) =>
  ({ type: 'DeactivateFailingEndpoint', endpoint: ENDPOINT, afterMs: HOUR, lastFailure: LAST_FAILURE, at }) as const;
const removed = { type: 'WebhookRemoved', data: { webhookId: 1, removedAt: AT } } as const;
const activated = { type: 'WebhookActivated', data: { webhookId: 1, activatedAt: AT } } as const;
const deactivated = (webhookId: number, at: string) =>
  ({
    type: 'WebhookDeactivated',
    data: {
      webhookId,
      reason: `nothing was delivered since ${AT}`,
      since: AT,
      by: 'service',
      lastFailure: LAST_FAILURE,
      deactivatedAt: at,
    },
  }) as const;

const moved = (webhookId: number, endpoint: string) =>
  ({
    type: 'WebhookUpdated',
    data: { ...added(webhookId).data, url: endpoint, endpoint, version: 2, updatedAt: NOTED },
  }) as const;

const webhook = added(1);
const ofAnotherType = added(2, { url: ENDPOINT, endpoint: ENDPOINT, eventType: 'cash_out' });
const ofAnotherUrl = added(3);

describe('an endpoint that fails', () => {
  it('is noted once', () => {
    given(registered(), webhook).when(note).thenEvents(failing);
    given(registered(), webhook, failing).when(note).thenEvents();
  });

  it('is not noted where none of its webhooks is active', () => {
    given(registered()).when(note).thenEvents();
    given(registered(), webhook, deactivated(1, AT)).when(note).thenEvents();
  });

  it('gets its deactivation announced once, after it was noted, while one of its webhooks is active', () => {
    given(registered(), webhook, failing).when(announce).thenEvents(announced);
    given(registered(), webhook, failing, announced).when(announce).thenEvents();
    given(registered(), webhook).when(announce).thenEvents();
    given(registered(), webhook, failing, deactivated(1, AT)).when(announce).thenEvents();
    given(registered(), webhook, failing, announced, activated, failing).when(announce).thenEvents(announced);
  });

  it('recovers where it was noted, and may be noted again', () => {
    given(registered(), webhook, failing).when(noteRecovered).thenEvents(recovered);
    given(registered(), webhook).when(noteRecovered).thenEvents();
    given(registered(), webhook, failing, recovered).when(note).thenEvents(failing);
  });
});

describe('an endpoint that has failed for long', () => {
  it('loses all its active webhooks, and no other does', () => {
    const at = sinceThen(HOUR);
    given(registered(), webhook, ofAnotherType, ofAnotherUrl, failing, announcedFor(at))
      .when(deactivate(at))
      .thenEvents(deactivated(1, at), deactivated(2, at));
  });

  it('keeps a webhook that has moved to another URL, and deactivates those that stayed', () => {
    const at = sinceThen(HOUR);
    given(registered(), webhook, ofAnotherType, failing, announcedFor(at), moved(1, 'https://new.example.com/'))
      .when(deactivate(at))
      .thenEvents(deactivated(2, at));
  });

  it('fails anew for a webhook that left it and comes back', () => {
    const at = sinceThen(HOUR);
    const back = [moved(1, 'https://new.example.com/'), moved(1, ENDPOINT)];
    given(registered(), webhook, failing, announcedFor(at), ...back)
      .when(deactivate(at))
      .thenEvents();
    given(registered(), webhook, failing, ...back)
      .when(note)
      .thenEvents(failing);
  });

  it.each([
    ['has not failed for long enough', [failing, announcedFor(AT)], sinceThen(HOUR - 1)],
    ['was not told', [failing], sinceThen(HOUR)],
    ['has not had the time that it was told', [failing, announcedFor(sinceThen(HOUR + 1))], sinceThen(HOUR)],
    ['has recovered', [failing, announcedFor(AT), recovered], sinceThen(HOUR)],
    ['was configured anew', [failing, announcedFor(AT), activated], sinceThen(HOUR)],
    [
      'was removed and added again',
      [failing, removed, added(4, { url: ENDPOINT, endpoint: ENDPOINT })],
      sinceThen(HOUR),
    ],
    ['was never noted', [], sinceThen(HOUR)],
  ])('keeps them where it %s', (_, since, at) => {
    given(registered(), webhook, ...since)
      .when(deactivate(at))
      .thenEvents();
  });
});
