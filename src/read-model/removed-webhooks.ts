/**
 * What an account's stream says of a webhook that is missing from the read model: whether it was removed or never belonged
 * to this history, and its endpoint. Both are permanent, so they are read once; ten thousand deliveries may wait for one
 * removed webhook.
 */
import { LRUCache } from 'lru-cache';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';

/** Webhooks: some 100 bytes each. */
const REMEMBERED = 10_000;

/** @throws StoreUnavailable */
export type WasRemoved = (accountId: number, webhookId: number) => Promise<boolean>;

export function createWasRemoved(store: Pick<EventStore, 'read'>): WasRemoved {
  const found = new Findings<true>();
  return async (accountId, webhookId) => {
    const isRemoval = ({ type, data }: RecordedEvent) => type === 'WebhookRemoved' && data.webhookId === webhookId;
    const search = () => firstIn(store.read(accountStream(accountId)), (event) => (isRemoval(event) ? true : null));
    return (await found.of(`${accountId} ${webhookId}`, search)) ?? false;
  };
}

/**
 * Null: the account's history has no such webhook.
 * @param addedBy the id of the event that added it
 * @param paced what is read, at the pace of the caller
 * @throws StoreUnavailable, and the errors of `paced`
 */
export type EndpointOfRemoved = (
  accountId: number,
  addedBy: string,
  paced: (events: AsyncIterable<RecordedEvent>) => AsyncIterable<RecordedEvent>,
) => Promise<string | null>;

export function createEndpointOfRemoved(store: Pick<EventStore, 'read'>): EndpointOfRemoved {
  const found = new Findings<string>();
  return (accountId, addedBy, paced) => {
    const endpointIn = ({ id, type, data }: RecordedEvent) =>
      id === addedBy && type === 'WebhookAdded' ? String(data.endpoint) : null;
    const search = () => firstIn(paced(store.read(accountStream(accountId))), endpointIn);
    return found.of(`${accountId} ${addedBy}`, search);
  };
}

/** What was found stays; what was not is searched for again, once for all who ask at the same time. */
class Findings<T> {
  readonly #searches = new LRUCache<string, Promise<T | null>>({ max: REMEMBERED });

  async of(key: string, search: () => Promise<T | null>): Promise<T | null> {
    const searched = this.#searches.get(key) ?? search();
    this.#searches.set(key, searched);
    let found: T | null = null;
    try {
      found = await searched;
      return found;
    } finally {
      if (found === null && this.#searches.get(key) === searched) this.#searches.delete(key);
    }
  }
}

async function firstIn<T>(
  events: AsyncIterable<RecordedEvent>,
  find: (event: RecordedEvent) => T | null,
): Promise<T | null> {
  for await (const event of events) {
    const found = find(event);
    if (found !== null) return found;
  }
  return null;
}
