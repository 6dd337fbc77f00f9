/**
 * What an account's stream says of a webhook that the read model lacks or has no more: whether it was removed or never
 * belonged to this history, and the endpoints of its versions. Both are permanent (attempts
 * name only versions that the history has), so they are read once; ten thousand deliveries may wait for one removed webhook.
 */
import { LRUCache } from 'lru-cache';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';

/** Webhooks: some 100 bytes each. */
const REMEMBERED = 10_000;

/** @throws StoreUnavailable */
export type WasRemoved = (accountId: number, webhookId: number) => Promise<boolean>;

export function createWasRemoved(store: Pick<EventStore, 'read'>): WasRemoved {
  const found = findings<true>();
  return async (accountId, webhookId) => {
    const search = async () => {
      for await (const { type, data } of store.read(accountStream(accountId))) {
        if (type === 'WebhookRemoved' && data.webhookId === webhookId) return true;
      }
      return undefined;
    };
    return (await found.fetch(`${accountId} ${webhookId}`, { context: search })) ?? false;
  };
}

/**
 * The endpoints that a webhook had in these versions, of those that the account's history has.
 * @param addedBy the id of the event that added it
 * @param paced what is read, at the pace of the caller
 * @throws StoreUnavailable, and the errors of `paced`
 */
export type EndpointsOf = (
  accountId: number,
  addedBy: string,
  versions: ReadonlySet<number>,
  paced: (events: AsyncIterable<RecordedEvent>) => AsyncIterable<RecordedEvent>,
) => Promise<ReadonlyMap<number, string>>;

export function createEndpointsOf(store: Pick<EventStore, 'read'>): EndpointsOf {
  const found = findings<ReadonlyMap<number, string>>();
  return async (accountId, addedBy, versions, paced) => {
    const search = () => endpointsIn(paced(store.read(accountStream(accountId))), addedBy, versions);
    return (await found.fetch(`${accountId} ${addedBy} ${[...versions]}`, { context: search })) ?? new Map();
  };
}

async function endpointsIn(
  events: AsyncIterable<RecordedEvent>,
  addedBy: string,
  versions: ReadonlySet<number>,
): Promise<ReadonlyMap<number, string>> {
  const endpoints = new Map<number, string>();
  let webhookId: unknown;
  for await (const { id, type, data } of events) {
    if (id === addedBy && type === 'WebhookAdded') webhookId = data.webhookId;
    const isOfIt = type === 'WebhookAdded' ? id === addedBy : type === 'WebhookUpdated' && data.webhookId === webhookId;
    if (isOfIt && versions.has(Number(data.version))) endpoints.set(Number(data.version), String(data.endpoint));
    if (endpoints.size === versions.size) break;
  }
  return endpoints;
}

/** What was found stays; what was not is searched for again, once for all who ask at the same time. */
function findings<T extends object | true>() {
  return new LRUCache<string, T, () => Promise<T | undefined>>({
    max: REMEMBERED,
    fetchMethod: (_, __, { context: search }) => search(),
  });
}
