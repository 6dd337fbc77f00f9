/** GET /api/events: all that was published for an account, page by page, or as a feed. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { ReceivedRecord } from '../../ports/broker.js';
import type {
  AccountView,
  AskView,
  EventPlace,
  EventsQuery,
  FeedPosition,
  FeedQuery,
  OfAccount,
  ViewedEvent,
} from '../../ports/deliveries-view.js';
import type { PublishedPayloads } from '../../ports/published-payloads.js';
import type { Accounts } from '../../read-model/accounts.js';
import { AccountTurns } from '../../webhooks/account-turns.js';
import { EVENT_TYPES } from '../../webhooks/limits.js';
import { badRequest, fieldError, registered } from '../api-error.js';
import { publishedAt } from '../deliveries/list-deliveries.js';
import { limitOf, NO_LIMIT, oneOf, PAGE_SIZE, periodOf, readQuery } from '../deliveries/page-query.js';
import type { Route } from '../operation.js';
import type { ReadLimit } from '../rate-limit.js';
import { type Reading, readRoute, viewAnswer } from '../read-answer.js';
import { may } from '../request-context.js';
import { LIST_EVENTS, placeCursor, positionCursor, readPlace, readPosition, START } from './events-operation.js';

type EventsPageQuery = Omit<EventsQuery, 'accountId' | 'before'> & {
  readonly before: EventPlace | null;
  readonly after: FeedPosition | null;
};

interface FoundEvents {
  readonly events: readonly (ViewedEvent & { readonly cursor: string })[];
  readonly next: string | null;
  readonly more: boolean;
}

export function listEvents(
  accounts: Pick<Accounts, 'webhooks'>,
  view: AskView,
  published: Pick<PublishedPayloads, 'record'>,
  reading: Reading,
): Route {
  // One page of an account is in memory at a time, however many connections ask for its payloads.
  const turns = new AccountTurns();
  return readRoute(LIST_EVENTS, reading, async (accountId, ctx) => {
    const { before, after, ...filter } = eventsQuery(ctx.query);
    registered(await accounts.webhooks(accountId));
    const find = () =>
      viewAnswer(view, accountId, (sound) =>
        after ? feed(sound, { ...filter, after }) : newestFirst(sound, { ...filter, before }),
      );
    if (!may(ctx, 'payloads')) {
      const found = await find();
      return () => shownPage(found, null);
    }
    return turns.take(accountId, async () => {
      const found = await find();
      const payments = found.events.map(({ payment }) => payment);
      const payloads = await firstPayloads(published, reading.reads, accountId, payments);
      return () => shownPage(found, payloads);
    });
  });
}

async function newestFirst(view: AccountView, query: OfAccount<EventsQuery>): Promise<FoundEvents> {
  const { events, next } = await view.events(query);
  const cursors = events.map((event) => ({ ...event, cursor: placeCursor(event) }));
  return { events: cursors, next: next && placeCursor(next), more: next !== null };
}

async function feed(view: AccountView, query: OfAccount<FeedQuery>): Promise<FoundEvents> {
  const { events, next, more } = await view.feed(query);
  const cursors = events.map((event) => ({ ...event, cursor: positionCursor(event.position) }));
  return { events: cursors, next: positionCursor(next), more };
}

/** @param payloads null: not asked for; fewer than events: the rest is left to the next page */
function shownPage(found: FoundEvents, payloads: readonly (string | null)[] | null) {
  const shown = payloads ? found.events.slice(0, payloads.length) : found.events;
  const isCut = shown.length < found.events.length;
  return {
    events: shown.map((event, index) => shownEvent(event, payloads?.[index] ?? null)),
    next: isCut ? (shown.at(-1)?.cursor ?? null) : found.next,
    more: isCut || found.more,
  };
}

function shownEvent(event: FoundEvents['events'][number], payload: string | null) {
  const { cursor, eventId, eventType, sentTo } = event;
  return { cursor, eventId, eventType, publishedAt: publishedAt(event), payload, sentTo, notSent: notSent(sentTo) };
}

function notSent(sentTo: ViewedEvent['sentTo']): 'no-webhook' | 'held' | null {
  if (sentTo.length === 0) return 'no-webhook';
  return sentTo.every(({ held }) => held) ? 'held' : null;
}

/** @throws ApiError 400 */
function eventsQuery(query: ParsedUrlQuery): EventsPageQuery {
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

const AT_A_TIME = 8;
/** A payload has up to 256 KiB. */
const MOST_BYTES = 2 * 1024 * 1024;
/** Of this process, for each payload. */
const MS_A_READ = 0.1;
const BYTES_A_MS = 512 * 1024;

/** As text; fewer if they exceed MOST_BYTES. Null: its topic has lost it. @throws BrokerUnavailable; ApiError 429 */
async function firstPayloads(
  published: Pick<PublishedPayloads, 'record'>,
  reads: ReadLimit,
  accountId: number,
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
    await reads.spend(accountId, some.length * MS_A_READ + characters / BYTES_A_MS);
  }
  return payloads;
}

/** Bytes that are no UTF-8 become U+FFFD. */
export function textOf(record: ReceivedRecord | null): string | null {
  return record && (record.value?.toString('utf8') ?? '');
}
