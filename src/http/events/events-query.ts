/** What GET /api/events is asked for. */
import type { Context } from 'koa';
import type { EventsQuery, FeedPosition } from '../../ports/deliveries-view.js';
import type { EventStore } from '../../ports/event-store.js';
import { accountStream } from '../../webhooks/events.js';
import type { Admitted } from '../admission.js';
import { badRequest, fieldError } from '../api-error.js';
import { readQuery } from '../query.js';
import { assertMay } from '../tokens/authenticate.js';
import { LIST_EVENTS } from './events-operation.js';

interface EventsAsked extends Omit<EventsQuery, 'webhookIds'> {
  readonly after: FeedPosition | null;
  readonly webhookId: number | null;
  /** Normalised. */
  readonly url: string | null;
}

/** @throws ApiError 400; 403: a search by reference would show it */
export function eventsQuery(ctx: Context): EventsAsked {
  const { error: errors, ...asked } = readQuery(LIST_EVENTS.query, ctx.query);
  if (asked.before && asked.after)
    throw badRequest([fieldError('after', { code: 'not-together', params: { other: 'before' } })]);
  if (asked.reference !== null) assertMay(ctx, 'payloads');
  return { ...asked, errors };
}

/**
 * The webhooks that are asked for: null, all. A URL names those that have it, and the removed ones that had it last.
 * @throws StoreUnavailable, ApiError 429
 */
export async function webhookIdsOf(
  accountId: number,
  { webhookId, url }: Pick<EventsAsked, 'webhookId' | 'url'>,
  store: Pick<EventStore, 'read'>,
  place: Admitted,
): Promise<readonly number[] | null> {
  if (url === null) return webhookId === null ? null : [webhookId];
  const endpoints = new Map<number, unknown>();
  for await (const { type, data } of place.paced(store.read(accountStream(accountId)))) {
    if (type === 'WebhookAdded' || type === 'WebhookUpdated') endpoints.set(Number(data.webhookId), data.endpoint);
  }
  const ids = [...endpoints].flatMap(([id, endpoint]) => (endpoint === url ? id : []));
  return webhookId === null ? ids : ids.filter((id) => id === webhookId);
}
