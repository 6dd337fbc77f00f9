import type { AccountEvent } from '../../src/webhooks/events.js';
import { AT, added, registered } from '../support/generators/webhook-samples.js';
import { decisionOf, given, stateOf } from '../support/scenes/aggregate-spec.js';

const request = {
  webhookIds: [1],
  since: AT,
  until: AT,
  include: ['held'],
  perSecond: 20,
  count: 3,
  actor: 'a caller',
};
const start = (recoveryId: string, ...ids: number[]) =>
  ({ type: 'StartRecovery', recoveryId, ...request, webhookIds: ids.length > 0 ? ids : [1], at: AT }) as const;
const stop = { type: 'StopRecovery', recoveryId: 'one', at: AT } as const;
const finish = { type: 'FinishRecovery', recoveryId: 'one', passedBy: 2, at: AT } as const;
const startedAs = (recoveryId: string, ...webhookIds: number[]) =>
  ({ type: 'RecoveryStarted', data: { ...request, recoveryId, webhookIds, startedAt: AT } }) as const;
const started = startedAs('one', 1);
const ended = (state: 'done' | 'stopped') =>
  ({
    type: 'RecoveryEnded',
    data: { recoveryId: 'one', state, endedAt: AT, passedBy: state === 'done' ? 2 : null },
  }) as const;
const off = { type: 'WebhookDeactivated', data: { webhookId: 1, reason: '410', deactivatedAt: AT } } as const;
const removed = { type: 'WebhookRemoved', data: { webhookId: 1, removedAt: AT } } as const;
const webhook = added(1);

describe('a recovery starts', () => {
  it('for an active webhook', () => {
    given(registered(), webhook).when(start('one')).thenEvents(started);
  });

  it('not for a webhook that is inactive, removed or unknown', () => {
    given(registered(), webhook, off).when(start('one')).thenRefused('webhook-inactive');
    given(registered(), webhook, removed).when(start('one')).thenRefused('webhook-not-found');
    given(registered()).when(start('one')).thenRefused('webhook-not-found');
  });

  it('not while another one of the webhook runs, and again after its end', () => {
    given(registered(), webhook, started).when(start('two')).thenRefused('recovery-running');
    given(registered(), webhook, started, ended('stopped')).when(start('two')).thenEvents(startedAs('two', 1));
  });

  it('beside one of another webhook', () => {
    given(registered(), webhook, added(2), startedAs('two', 2)).when(start('one')).thenEvents(started);
  });
});

describe('a recovery of several webhooks', () => {
  const two = [registered(), webhook, added(2)];

  it('is one event', () => {
    given(...two)
      .when(start('one', 2, 1))
      .thenEvents(startedAs('one', 2, 1));
  });

  it('does not start where one of them is unknown, inactive, or being recovered: which is said', () => {
    given(...two)
      .when(start('one', 1, 3))
      .thenRefused('webhook-not-found');
    given(...two, off)
      .when(start('one', 2, 1))
      .thenRefused('webhook-inactive');
    const state = [...two, added(3), startedAs('two', 3, 1)];
    expect(decisionOf(state, start('one', 1, 2, 3))).toEqual({
      kind: 'recovery-running',
      params: { webhookIds: [1, 3] },
    });
  });

  it('is kept while it is the last one of a webhook that exists', () => {
    const both = [...two, startedAs('one', 1, 2), ended('done')];
    const kept = (...events: AccountEvent[]) => stateOf([...both, ...events]).recoveries.map(({ id }) => id);
    expect(kept(startedAs('two', 1))).toEqual(['one', 'two']);
    expect(kept(startedAs('two', 1), startedAs('three', 2))).toEqual(['two', 'three']);
    expect(kept(removed)).toEqual(['one']);
    expect(kept(startedAs('two', 2), removed)).toEqual(['two']);
  });
});

describe('a recovery ends', () => {
  it('as done when it has sent everything, and as stopped by its account', () => {
    given(registered(), webhook, started).when(finish).thenEvents(ended('done'));
    given(registered(), webhook, started).when(stop).thenEvents(ended('stopped'));
  });

  it('once: the first end counts', () => {
    given(registered(), webhook, started, ended('stopped')).when(finish).thenEvents();
    given(registered(), webhook, started, ended('done')).when(stop).thenEvents();
  });

  it('is refused for an unknown recovery, and for one whose webhook was removed', () => {
    given(registered(), webhook).when(stop).thenRefused('recovery-not-found');
    given(registered(), webhook, started, removed).when(stop).thenRefused('recovery-not-found');
  });
});
