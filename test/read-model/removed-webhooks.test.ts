import { expect, test } from '@jest/globals';
import type { RecordedEvent } from '../../src/ports/event-store.js';
import { createEndpointOfRemoved, createWasRemoved } from '../../src/read-model/removed-webhooks.js';

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

test('a webhook that was removed, one that never was, and one of another account', async () => {
  const { wasRemoved } = stream(event('WebhookAdded', 7), event('WebhookRemoved', 7), event('WebhookAdded', 8));
  expect(await Promise.all([wasRemoved(1, 7), wasRemoved(1, 9), wasRemoved(2, 7)])).toEqual([true, false, false]);
});

test('a removal is read once, also where many ask at once', async () => {
  const { store, wasRemoved } = stream(event('WebhookRemoved', 7));
  await Promise.all([wasRemoved(1, 7), wasRemoved(1, 7)]);
  await wasRemoved(1, 7);
  expect(store.reads).toBe(1);
});

test('that it was not removed is read again: it may be by then', async () => {
  const { store, wasRemoved } = stream();
  await wasRemoved(1, 7);
  await wasRemoved(1, 7);
  expect(store.reads).toBe(2);
});

test('a store that is away is asked again', async () => {
  const { store, wasRemoved } = stream(event('WebhookRemoved', 7));
  store.failures = 1;
  await expect(wasRemoved(1, 7)).rejects.toThrow('away');
  expect(await wasRemoved(1, 7)).toBe(true);
});

test('the endpoint of a removed webhook is that of the event which added it, read once, also where many ask at once', async () => {
  const added = { ...event('WebhookAdded', 7), data: { webhookId: 7, endpoint: 'https://shop.example.com/' } };
  const { store } = stream(event('WebhookAdded', 6), added, event('WebhookRemoved', 7));
  const endpointOf = createEndpointOfRemoved(store);
  const paces: number[] = [];
  const asked = (accountId: number, addedBy: string) =>
    endpointOf(accountId, addedBy, (events) => {
      paces.push(accountId);
      return events;
    });
  const both = [asked(1, 'WebhookAdded 7'), asked(1, 'WebhookAdded 7')];
  expect(await Promise.all(both)).toEqual(['https://shop.example.com/', 'https://shop.example.com/']);
  expect(await asked(1, 'WebhookAdded 7')).toBe('https://shop.example.com/');
  expect([store.reads, paces]).toEqual([1, [1]]);
  expect(await asked(1, 'WebhookAdded 9')).toBeNull();
  expect(await asked(2, 'WebhookAdded 7')).toBeNull();
});
