/** What GET /api/events is asked for. */
import type { Context } from 'koa';
import { parseUrl } from '../../endpoints/endpoint-url.js';
import { ARRIVED, type EventsQuery, type FeedPosition } from '../../ports/deliveries-view.js';
import type { EventStore } from '../../ports/event-store.js';
import { accountStream } from '../../webhooks/events.js';
import { badRequest, fieldError } from '../api-error.js';
import {
  anyText,
  filtersOf,
  limitOf,
  NO_LIMIT,
  oneOf,
  PAGE_SIZE,
  periodOf,
  readQuery,
} from '../deliveries/page-query.js';
import { pacedHistory, type ReadLimit } from '../rate-limit.js';
import { assertMay } from '../tokens/authenticate.js';
import { readPlace, readPosition, START } from './events-operation.js';

interface EventsAsked extends Omit<EventsQuery, 'webhookIds'> {
  readonly after: FeedPosition | null;
  readonly webhookId: number | null;
  /** Normalised. */
  readonly url: string | null;
}

/** @throws ApiError 400; 403: a search by reference would show it */
export function eventsQuery(ctx: Context): EventsAsked {
  const asked = readQuery(ctx.query, (read) => ({
    limit: read('limit', limitOf, NO_LIMIT) ?? PAGE_SIZE,
    before: read('before', readPlace, 'must be a cursor of an earlier page without after'),
    after: read('after', readPosition, `must be ${START}, or a cursor of an earlier page with after`),
    arrived: read('arrived', oneOf(ARRIVED), `must be one of ${ARRIVED.join(', ')}`),
    url: read('url', (text) => parseUrl(text)?.href ?? null, 'must be a URL'),
    reference: read('reference', anyText, 'must be given once'),
    ...filtersOf(read),
    ...periodOf(read),
  }));
  if (asked.before && asked.after) throw badRequest([fieldError('after', 'must not be given together with before')]);
  if (asked.reference !== null) assertMay(ctx, 'payloads');
  return asked;
}

/**
 * The webhooks that are asked for: null, all. A URL names those that have it, and the removed ones that had it last.
 * @throws StoreUnavailable, ApiError 429
 */
export async function webhookIdsOf(
  accountId: number,
  { webhookId, url }: Pick<EventsAsked, 'webhookId' | 'url'>,
  store: Pick<EventStore, 'read'>,
  reads: ReadLimit,
): Promise<readonly number[] | null> {
  if (url === null) return webhookId === null ? null : [webhookId];
  const endpoints = new Map<number, unknown>();
  for await (const { type, data } of pacedHistory(store.read(accountStream(accountId)), reads, accountId)) {
    if (type === 'WebhookAdded' || type === 'WebhookUpdated') endpoints.set(Number(data.webhookId), data.endpoint);
  }
  const ids = [...endpoints].flatMap(([id, endpoint]) => (endpoint === url ? id : []));
  return webhookId === null ? ids : ids.filter((id) => id === webhookId);
}
