/** GET /api/history: who changed what, and when: the account's events, page by page, newest first. */
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { auditEntry } from '../read-model/account-log.js';
import type { Accounts } from '../read-model/accounts.js';
import { charactersOf } from '../read-model/plain-json.js';
import { accountEvent, keyUseOf } from '../webhooks/envelope.js';
import { changesOf } from '../webhooks/event-changes.js';
import { accountStream } from '../webhooks/events.js';
import { registered } from './api-error.js';
import { read } from './operation.js';
import { pageLimit, parameter, readQuery, textQuery, timeQuery } from './query.js';
import { type Reading, readRoute } from './read-answer.js';
import { list, object, orNull, text, textOrNull, timeOrNull, whole } from './schema.js';

const CHANGE = object('Change', 'A change of the account or of one of its webhooks.', {
  at: timeOrNull('When it was decided.'),
  actor: textOrNull(
    'Who caused it: a client id, `<client id>/<user>` in a session, an operator, or the service itself.',
  ),
  type: text('The type of the event, such as `WebhookAdded`.'),
  webhookId: orNull(whole('The webhook that changed. Null if none did.')),
  changes: text('What changed, as a text. Header values and secrets are left out.'),
});

const LIST_HISTORY = read({
  id: 'listHistory',
  path: '/api/history',
  tag: 'History',
  summary: 'List the history of the account',
  description:
    'Lists every change of the account, its webhooks, credentials, signing secrets and sessions, page by page, newest first. With a filter a page looks at 1,000 changes: it may be short, or empty, with a `next`.',
  query: {
    limit: pageLimit('changes'),
    before: parameter('The `next` of the page before.', { type: 'string' }, revisionOf, { code: 'not-a-cursor' }),
    actor: textQuery('Only changes that this `actor` caused.'),
    type: textQuery('Only changes of this type, such as `WebhookAdded`.'),
    from: timeQuery('Only changes at this time (ISO 8601) or later.'),
    to: timeQuery('Only changes before this time (ISO 8601).'),
  },
  responses: {
    200: {
      description: 'A page of the history.',
      schema: object('HistoryPage', "A page of an account's history.", {
        events: list('The changes, newest first.', CHANGE),
        next: textOrNull('Send it as `before` for the next page. Null on the last page.'),
      }),
      links: {
        nextPage: {
          operationId: 'listHistory',
          description: 'The next page, if `next` is not null.',
          parameters: { before: '$response.body#/next' },
        },
      },
    },
  },
});

export function listHistory(
  accounts: Pick<Accounts, 'credentialsNow'>,
  store: Pick<EventStore, 'read'>,
  reading: Reading,
) {
  return readRoute(LIST_HISTORY, reading, async (accountId, ctx) => {
    const { limit, before, ...filters } = readQuery(LIST_HISTORY.query, ctx.query);
    const now = registered(await accounts.credentialsNow(accountId));
    const end = Math.min(before ?? Number.POSITIVE_INFINITY, now.revision + 1);
    const isFiltered = Object.values(filters).some((filter) => filter !== null);
    const begin = Math.max(0, end - (isFiltered ? LOOKED_AT : limit));
    const { found, bytesRead } = await between(store, accountStream(accountId), begin, end);
    const matching = found.filter((each) => matches(each, filters)).reverse();
    const events = matching.slice(0, limit).map(({ change }) => change);
    // The next page begins before the last of this one, where there are more.
    const next = matching[limit] ? (matching[limit - 1]?.revision ?? begin) : begin;
    return { make: () => ({ events, next: next === 0 ? null : String(next) }), bytesRead };
  });
}

/** By a page with a filter. */
const LOOKED_AT = 1_000;

type Found = ReturnType<typeof shown>;

interface Filters {
  readonly actor: string | null;
  readonly type: string | null;
  /** ms since the epoch. */
  readonly from: number | null;
  readonly to: number | null;
}

function matches({ change: { at, actor, type } }: Found, filters: Filters): boolean {
  const { from, to } = filters;
  if (filters.actor !== null && actor !== filters.actor) return false;
  if (filters.type !== null && type !== filters.type) return false;
  if (from === null && to === null) return true;
  const time = Date.parse(at ?? '');
  return time >= (from ?? time) && time < (to ?? Number.POSITIVE_INFINITY);
}

/**
 * A page is of neighbouring revisions, so its work is bounded however long the history is. Sealed header values make an event
 * up to 100 times as large as what is shown of it, which is all that is kept.
 */
async function between(store: Pick<EventStore, 'read'>, stream: string, begin: number, end: number) {
  const found: Found[] = [];
  let bytesRead = 0;
  if (begin >= end) return { found, bytesRead };
  for await (const event of store.read(stream, begin)) {
    found.push(shown(event));
    bytesRead += charactersOf([event.data]);
    if (event.revision >= end - 1) break;
  }
  return { found, bytesRead };
}

function shown(event: RecordedEvent) {
  const { at, actor, type, data } = auditEntry(event);
  const webhookId = typeof data.webhookId === 'number' ? data.webhookId : null;
  const key = keyUseOf(event);
  // IdempotencyKeyUsed has no time but that of its key.
  const time = at ?? (key && new Date(key.at).toISOString());
  const change = { at: time, actor, type, webhookId, changes: changesOf(accountEvent(event)) };
  return { revision: event.revision, change };
}

function revisionOf(text: string): number | null {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : null;
}
