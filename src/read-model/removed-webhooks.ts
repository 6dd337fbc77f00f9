/**
 * What an account's stream says of a webhook that the read model lacks or has no more: whether it was removed or never
 * belonged to this history, and the endpoints of its versions. Both are permanent, so they are read once; ten thousand
 * deliveries may wait for one removed webhook.
 */
import { LRUCache } from 'lru-cache';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';

/** Webhooks: some 100 bytes each. */
const REMEMBERED = 10_000;

/** @throws StoreUnavailable */
export type WasRemoved = (accountId: number, webhookId: number) => Promise<boolean>;

export function createWasRemoved(store: Pick<EventStore, 'read'>): WasRemoved {
  const found = new Findings<boolean>();
  return (accountId, webhookId) => {
    const search = async () => {
      for await (const { type, data } of store.read(accountStream(accountId))) {
        if (type === 'WebhookRemoved' && data.webhookId === webhookId) return true;
      }
      return false;
    };
    return found.of(`${accountId} ${webhookId}`, search, Boolean);
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
  const found = new Findings<ReadonlyMap<number, string>>();
  return (accountId, addedBy, versions, paced) => {
    const search = () => endpointsIn(paced(store.read(accountStream(accountId))), addedBy, versions);
    return found.of(`${accountId} ${addedBy} ${[...versions]}`, search, ({ size }) => size === versions.size);
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
class Findings<T> {
  readonly #searches = new LRUCache<string, Promise<T>>({ max: REMEMBERED });

  async of(key: string, search: () => Promise<T>, isAll: (found: T) => boolean): Promise<T> {
    const searched = this.#searches.get(key) ?? search();
    this.#searches.set(key, searched);
    let stays = false;
    try {
      const found = await searched;
      stays = isAll(found);
      return found;
    } finally {
      if (!stays && this.#searches.get(key) === searched) this.#searches.delete(key);
    }
  }
}
