/** GET /api/events: all that was published for an account, page by page, or as a feed. */
import { webhookMessageId } from '../../payments/parsed-payment.js';
import type { ReceivedRecord } from '../../ports/broker.js';
import type { AccountView, EventsQuery, FeedQuery, ViewedEvent } from '../../ports/deliveries-view.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import type { Webhook } from '../../webhooks/state.js';
import type { Admitted } from '../admission.js';
import { badRequest, fieldError, registered } from '../api-error.js';
import { publishedAt } from '../deliveries/delivery-page.js';
import { viewAnswer } from '../read-answer.js';
import { may } from '../request-context.js';
import { timeText } from '../shared-schemas.js';
import { assertMay } from '../tokens/authenticate.js';
import { LIST_EVENTS, placeCursor, positionCursor } from './events-operation.js';

export const listEvents = LIST_EVENTS.answer(async (parts, { accountId, ctx, query, place, requester }) => {
  const { before, after, webhookId, url, error: errors, ...asked } = query;
  if (before && after) throw badRequest([fieldError('after', { code: 'not-together', params: { other: 'before' } })]);
  // A search by reference would show it.
  if (asked.reference !== null) assertMay(ctx, 'payloads');
  const { webhooks } = registered(await parts.accounts.webhooks(accountId));
  const webhookIds = webhookIdsOf(webhooks, webhookId, url);
  const filter = { ...asked, errors, webhookIds };
  const found = await viewAnswer(parts.view, requester, (sound) =>
    after ? feed(sound, { ...filter, after }) : newestFirst(sound, { ...filter, before }),
  );
  const payments = found.events.map(({ payment }) => payment);
  const payloads = may(ctx, 'payloads') ? await firstPayloads(parts.payloads, place, payments) : null;
  return () => shownPage(accountId, found, payloads);
});

/** Null: all webhooks. @param url normalised */
function webhookIdsOf(webhooks: readonly Webhook[], webhookId: number | null, url: string | null) {
  if (url === null) return webhookId === null ? null : [webhookId];
  const named = webhooks.filter(({ id, endpoint }) => endpoint === url && (webhookId ?? id) === id);
  return named.map(({ id }) => id);
}

type FoundEvents = Awaited<ReturnType<typeof newestFirst>>;

async function newestFirst(view: AccountView, query: EventsQuery) {
  const { events, next, completeSince } = await view.events(query);
  const cursors = events.map((event) => ({ ...event, cursor: placeCursor(event) }));
  return { events: cursors, next: next && placeCursor(next), more: next !== null, completeSince };
}

async function feed(view: AccountView, query: FeedQuery): Promise<FoundEvents> {
  const { events, next, more, completeSince } = await view.feed(query);
  const cursors = events.map((event) => ({ ...event, cursor: positionCursor(event.position) }));
  return { events: cursors, next: positionCursor(next), more, completeSince };
}

/** @param payloads null: not asked for; fewer than events: the rest is left to the next page */
function shownPage(accountId: number, found: FoundEvents, payloads: readonly (string | null)[] | null) {
  const shown = payloads ? found.events.slice(0, payloads.length) : found.events;
  const isCut = shown.length < found.events.length;
  return {
    events: shown.map((event, index) => {
      const { cursor, eventId, eventType, arrived, sentTo, amount, reference } = event;
      const may = payloads ? { payload: payloads[index] ?? null, amount, reference } : NO_PAYLOAD;
      const routed = { arrived, sentTo: withIds(accountId, event), notSent: notSent(sentTo) };
      return { cursor, eventId, eventType, publishedAt: publishedAt(event), ...may, ...routed };
    }),
    next: isCut ? (shown.at(-1)?.cursor ?? null) : found.next,
    more: isCut || found.more,
    completeSince: timeText(found.completeSince),
  };
}

/** Also of a delivery of which the view knows nothing yet. */
function withIds(accountId: number, { sentTo, ...event }: ViewedEvent) {
  return sentTo.map(({ deliveryId, ...delivery }) => ({
    ...delivery,
    deliveryId: deliveryId ?? webhookMessageId(accountId, event, delivery.webhookId),
  }));
}

/** Of a caller who may not read it. */
const NO_PAYLOAD = { payload: null, amount: null, reference: null };

function notSent(sentTo: ViewedEvent['sentTo']): 'no-webhook' | 'held' | null {
  if (sentTo.length === 0) return 'no-webhook';
  return sentTo.every(({ held }) => held) ? 'held' : null;
}

const AT_A_TIME = 8;
/** A payload has up to 256 KiB, and an account has several pages in progress. */
const MOST_BYTES = 1024 * 1024;
/** Of this process, for each payload. */
const MS_A_READ = 0.1;
const BYTES_A_MS = 512 * 1024;

/** As text; fewer if they exceed MOST_BYTES. Null: its topic has lost it. @throws BrokerUnavailable; ApiError 429 */
async function firstPayloads(
  published: Pick<PublishedPayloads, 'record'>,
  place: Admitted,
  payments: readonly string[],
): Promise<readonly (string | null)[]> {
  const payloads: (string | null)[] = [];
  let bytes = 0;
  while (payloads.length < payments.length && bytes < MOST_BYTES) {
    const some = payments.slice(payloads.length, payloads.length + AT_A_TIME);
    const read = await Promise.all(some.map(async (payment) => textOf(await published.record(payment))));
    const characters = read.reduce((sum, payload) => sum + (payload?.length ?? 0), 0);
    payloads.push(...read);
    bytes += characters;
    await place.spend(some.length * MS_A_READ + characters / BYTES_A_MS);
  }
  return payloads;
}

/** Bytes that are no UTF-8 become U+FFFD. */
export function textOf(record: ReceivedRecord | null): string | null {
  return record && (record.value?.toString('utf8') ?? '');
}
