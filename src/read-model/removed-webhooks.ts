/**
 * What an account's stream says of a webhook that is missing from the read model: whether it was removed or never belonged
 * to this history, and its endpoint. A removal is permanent, so it is read once; ten thousand deliveries may wait for one
 * removed webhook.
 */
import { LRUCache } from 'lru-cache';
import type { EventStore } from '../ports/event-store.js';
import { accountStream } from '../webhooks/events.js';

/** Webhooks: some 100 bytes each. */
const REMEMBERED = 10_000;

/** @throws StoreUnavailable */
export type WasRemoved = (accountId: number, webhookId: number) => Promise<boolean>;

export function createWasRemoved(store: Pick<EventStore, 'read'>): WasRemoved {
  const answers = new LRUCache<string, Promise<boolean>>({ max: REMEMBERED });
  return async (accountId, webhookId) => {
    const key = `${accountId} ${webhookId}`;
    const answer = answers.get(key) ?? readRemoval(store, accountId, webhookId);
    answers.set(key, answer);
    const isRemoved = await answer.catch((error: unknown) => {
      answers.delete(key);
      throw error;
    });
    if (!isRemoved) answers.delete(key);
    return isRemoved;
  };
}

async function readRemoval(store: Pick<EventStore, 'read'>, accountId: number, webhookId: number): Promise<boolean> {
  for await (const { type, data } of store.read(accountStream(accountId))) {
    if (type === 'WebhookRemoved' && data.webhookId === webhookId) return true;
  }
  return false;
}

/** Null: the account's history has no such webhook. @param addedBy the id of the event that added it @throws StoreUnavailable */
export type EndpointOfRemoved = (accountId: number, addedBy: string) => Promise<string | null>;

export function createEndpointOfRemoved(store: Pick<EventStore, 'read'>): EndpointOfRemoved {
  const answers = new LRUCache<string, string>({ max: REMEMBERED });
  return async (accountId, addedBy) => {
    const key = `${accountId} ${addedBy}`;
    const endpoint = answers.get(key) ?? (await readEndpoint(store, accountId, addedBy));
    if (endpoint !== null) answers.set(key, endpoint);
    return endpoint;
  };
}

async function readEndpoint(
  store: Pick<EventStore, 'read'>,
  accountId: number,
  addedBy: string,
): Promise<string | null> {
  for await (const { id, type, data } of store.read(accountStream(accountId))) {
    if (id === addedBy && type === 'WebhookAdded') return String(data.endpoint);
  }
  return null;
}
