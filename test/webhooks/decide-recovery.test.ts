import { given } from '../support/aggregate-spec.js';
import { AT, added, registered } from '../support/webhook-samples.js';

const request = { webhookId: 1, since: AT, until: AT, include: ['held'], perSecond: 20, count: 3 };
const start = (recoveryId: string) => ({ type: 'StartRecovery', recoveryId, ...request, at: AT }) as const;
const stop = { type: 'StopRecovery', recoveryId: 'one', at: AT } as const;
const finish = { type: 'FinishRecovery', recoveryId: 'one', state: 'done', at: AT } as const;
const started = { type: 'RecoveryStarted', data: { recoveryId: 'one', ...request, startedAt: AT } } as const;
const ended = (state: 'done' | 'stopped') =>
  ({ type: 'RecoveryEnded', data: { recoveryId: 'one', webhookId: 1, state, endedAt: AT } }) as const;
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
    const second = { ...started, data: { ...started.data, recoveryId: 'two' } };
    given(registered(), webhook, started, ended('stopped')).when(start('two')).thenEvents(second);
  });

  it('beside one of another webhook', () => {
    const other = { ...started, data: { ...started.data, recoveryId: 'two', webhookId: 2 } };
    given(registered(), webhook, added(2), other).when(start('one')).thenEvents(started);
  });
});

describe('a recovery ends', () => {
  it('as done when it has sent everything, and as stopped by its account', () => {
    given(registered(), webhook, started).when(finish).thenEvents(ended('done'));
    given(registered(), webhook, started).when(stop).thenEvents(ended('stopped'));
    given(registered(), webhook, started)
      .when({ ...finish, state: 'stopped' })
      .thenEvents(ended('stopped'));
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
