import type { RecordedEvent } from '../../src/ports/event-store.js';
import { createEndpointsOf, createWasRemoved } from '../../src/read-model/removed-webhooks.js';

const event = (type: string, webhookId: number): RecordedEvent => {
  const place = { stream: 'account-1', revision: 0, position: '' };
  return { id: `${type} ${webhookId}`, type, data: { webhookId }, metadata: {}, ...place };
};

/** The stream of account 1, and how often it was read. */
function stream(...events: readonly RecordedEvent[]) {
  const store = {
    reads: 0,
    failures: 0,
    async *read(name: string) {
      store.reads += 1;
      if (store.failures-- > 0) throw new Error('the store is away');
      if (name === 'account-1') yield* events;
    },
  };
  return { store, wasRemoved: createWasRemoved(store) };
}

test('a removed webhook was removed; one that never was, and one of another account, was not', async () => {
  const { wasRemoved } = stream(event('WebhookAdded', 7), event('WebhookRemoved', 7), event('WebhookAdded', 8));
  expect(await Promise.all([wasRemoved(1, 7), wasRemoved(1, 9), wasRemoved(2, 7)])).toEqual([true, false, false]);
});

test('a removal is read once, also where many ask at once', async () => {
  const { store, wasRemoved } = stream(event('WebhookRemoved', 7));
  await Promise.all([wasRemoved(1, 7), wasRemoved(1, 7)]);
  await wasRemoved(1, 7);
  expect(store.reads).toBe(1);
});

test('a store that is away is asked again', async () => {
  const { store, wasRemoved } = stream(event('WebhookRemoved', 7));
  store.failures = 1;
  await expect(wasRemoved(1, 7)).rejects.toThrow('away');
  expect(await wasRemoved(1, 7)).toBe(true);
});

test('the endpoints of the versions of a webhook are read once, also where many ask at once', async () => {
  const configured = (type: string, webhookId: number, version: number) => ({
    ...event(type, webhookId),
    data: { webhookId, version, endpoint: `https://shop.example.com/${webhookId}/${version}` },
  });
  const { store } = stream(
    configured('WebhookAdded', 6, 1),
    configured('WebhookAdded', 7, 1),
    configured('WebhookUpdated', 6, 2),
    configured('WebhookUpdated', 7, 2),
    configured('WebhookUpdated', 7, 3),
    event('WebhookRemoved', 7),
  );
  const endpointsOf = createEndpointsOf(store);
  const paces: number[] = [];
  const asked = async (accountId: number, addedBy: string, ...versions: number[]) => {
    const found = await endpointsOf(accountId, addedBy, new Set(versions), (events) => {
      paces.push(accountId);
      return events;
    });
    return [...found];
  };
  const both = [
    [1, 'https://shop.example.com/7/1'],
    [3, 'https://shop.example.com/7/3'],
  ];
  expect(await Promise.all([asked(1, 'WebhookAdded 7', 1, 3), asked(1, 'WebhookAdded 7', 1, 3)])).toEqual([both, both]);
  expect(await asked(1, 'WebhookAdded 7', 1, 3)).toEqual(both);
  expect([store.reads, paces]).toEqual([1, [1]]);
  expect(await asked(1, 'WebhookAdded 6', 2)).toEqual([[2, 'https://shop.example.com/6/2']]);
  expect(await asked(1, 'WebhookAdded 9', 1)).toEqual([]);
  expect(await asked(2, 'WebhookAdded 7', 1)).toEqual([]);
  expect(await asked(1, 'WebhookAdded 7', 1, 4)).toEqual(both.slice(0, 1));
});
