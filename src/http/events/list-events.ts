/** GET /api/events: all that was published for an account, page by page, or as a feed. */
import type { ParsedUrlQuery } from 'node:querystring';
import type {
  AskView,
  EventPlace,
  EventsQuery,
  FeedPosition,
  FeedQuery,
  ViewedEvent,
} from '../../ports/deliveries-view.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import type { Accounts } from '../../read-model/accounts.js';
import { AccountTurns } from '../../webhooks/account-turns.js';
import { EVENT_TYPES } from '../../webhooks/limits.js';
import { accountNotFound, badRequest, fieldError } from '../api-error.js';
import { limitOf, NO_LIMIT, oneOf, PAGE_SIZE, periodOf, readQuery } from '../deliveries/page-query.js';
import type { Route } from '../operation.js';
import { type Reading, readRoute, viewAnswer } from '../read-answer.js';
import { may } from '../request-context.js';
import { placeCursor, positionCursor, readPlace, readPosition, START } from './event-cursor.js';
import { firstPayloads } from './event-payloads.js';
import { LIST_EVENTS } from './events-operation.js';

export interface EventsParts {
  readonly accounts: Pick<Accounts, 'webhooks'>;
  readonly view: AskView;
  readonly payloads: Pick<PublishedPayloads, 'record'>;
}

type Filter = Omit<EventsQuery, 'before'>;
type Asked = Omit<Filter, 'accountId'> & { readonly before: EventPlace | null; readonly after: FeedPosition | null };

interface Found {
  readonly events: readonly (ViewedEvent & { readonly cursor: string })[];
  readonly next: string | null;
  readonly more: boolean;
}

export function listEvents({ accounts, view, payloads: published }: EventsParts, reading: Reading): Route {
  // One page of an account is in memory at a time, however many connections ask for its payloads.
  const turns = new AccountTurns();
  return readRoute(LIST_EVENTS, reading, async (accountId, ctx) => {
    const { before, after, ...filter } = eventsQuery(ctx.query);
    if (!(await accounts.webhooks(accountId))) throw accountNotFound();
    const find = () =>
      after ? feed(view, { ...filter, accountId, after }) : newestFirst(view, { ...filter, accountId, before });
    const { reads } = reading;
    if (!may(ctx, 'payloads')) return () => shownPage(find(), null);
    return turns.take(accountId, async () => {
      const found = reads.timed(accountId, find);
      const payments = found.events.map(({ payment }) => payment);
      const payloads = await firstPayloads(published, reads, accountId, payments);
      return () => shownPage(found, payloads);
    });
  });
}

function newestFirst(view: EventsParts['view'], query: EventsQuery): Found {
  const { events, next } = viewAnswer(view, (sound) => sound.events(query));
  const cursors = events.map((event) => ({ ...event, cursor: placeCursor(event) }));
  return { events: cursors, next: next && placeCursor(next), more: next !== null };
}

function feed(view: EventsParts['view'], query: FeedQuery): Found {
  const { events, next, more } = viewAnswer(view, (sound) => sound.feed(query));
  const cursors = events.map((event) => ({ ...event, cursor: positionCursor(event.position) }));
  return { events: cursors, next: positionCursor(next), more };
}

/** @param payloads null: not asked for; fewer than events: the rest is left to the next page */
function shownPage(found: Found, payloads: readonly (string | null)[] | null) {
  const shown = payloads ? found.events.slice(0, payloads.length) : found.events;
  const isCut = shown.length < found.events.length;
  return {
    events: shown.map((event, index) => shownEvent(event, payloads?.[index] ?? null)),
    next: isCut ? (shown.at(-1)?.cursor ?? null) : found.next,
    more: isCut || found.more,
  };
}

function shownEvent({ cursor, eventId, eventType, firstAt, sentTo }: Found['events'][number], payload: string | null) {
  return {
    cursor,
    eventId,
    eventType,
    publishedAt: firstAt === 0 ? null : new Date(firstAt).toISOString(),
    payload,
    sentTo,
    notSent: notSent(sentTo),
  };
}

function notSent(sentTo: ViewedEvent['sentTo']): 'no-webhook' | 'held' | null {
  if (sentTo.length === 0) return 'no-webhook';
  return sentTo.every(({ held }) => held) ? 'held' : null;
}

/** @throws ApiError 400 */
function eventsQuery(query: ParsedUrlQuery): Asked {
  const asked = readQuery(query, (read) => ({
    limit: read('limit', limitOf, NO_LIMIT) ?? PAGE_SIZE,
    before: read('before', readPlace, 'must be a cursor of an earlier page without after'),
    after: read('after', readPosition, `must be ${START}, or a cursor of an earlier page with after`),
    eventType: read('eventType', oneOf(EVENT_TYPES), `must be one of ${EVENT_TYPES.join(', ')}`),
    eventId: read('eventId', (text) => text, 'must be given once'),
    ...periodOf(read),
  }));
  if (!asked.before || !asked.after) return asked;
  throw badRequest([fieldError('after', 'must not be given together with before')]);
}
