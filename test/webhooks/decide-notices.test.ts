import { AT, registered } from '../support/generators/webhook-samples.js';
import { given } from '../support/scenes/aggregate-spec.js';

const target = { url: 'https://Shop.example.com/notices', endpoint: 'https://shop.example.com/notices' };
const headers = [{ key: 'X-Api-Key', sealed: 'v1.00000000.abc' }];
const set = (changes = {}, isHeld = true) =>
  ({ type: 'SetNotices', ...target, headers, isHeldBy: () => isHeld, at: AT, ...changes }) as const;
const remove = { type: 'RemoveNotices', at: AT } as const;
const wasSet = { type: 'NoticesSet', data: { ...target, headers, setAt: AT } } as const;
const wasRemoved = { type: 'NoticesRemoved', data: { removedAt: AT } } as const;

describe('the notice URL', () => {
  it('is set, and removed', () => {
    given(registered()).when(set()).thenEvents(wasSet);
    given(registered(), wasSet).when(remove).thenEvents(wasRemoved);
    given(registered(), wasSet, wasRemoved).when(set()).thenEvents(wasSet);
  });

  it('set again as it is, or removed where there is none, changes nothing', () => {
    given(registered(), wasSet).when(set()).thenEvents();
    given(registered()).when(remove).thenEvents();
    given(registered(), wasSet, wasRemoved).when(remove).thenEvents();
  });

  it('is replaced by another URL, another spelling of it, or other headers', () => {
    given(registered(), wasSet).when(set({}, false)).thenEvents(wasSet);
    const url = target.endpoint;
    given(registered(), wasSet)
      .when(set({ url }))
      .thenEvents({ type: 'NoticesSet', data: { ...wasSet.data, url } });
  });
});
