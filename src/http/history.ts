/** GET /api/history: who changed what, and when: the account's events, page by page, newest first. */
import type { ParsedUrlQuery } from 'node:querystring';
import type { EventStore, RecordedEvent } from '../ports/event-store.js';
import { auditEntry } from '../read-model/account-log.js';
import type { Accounts } from '../read-model/accounts.js';
import { charactersOf } from '../read-model/plain-json.js';
import { accountEvent, keyUseOf } from '../webhooks/envelope.js';
import { changesOf } from '../webhooks/event-changes.js';
import { accountStream } from '../webhooks/events.js';
import { registered } from './api-error.js';
import { limitOf, MOST_IN_A_PAGE, NO_LIMIT, PAGE_SIZE, readQuery } from './deliveries/page-query.js';
import { type Operation, READ, type Route, refusal } from './operation.js';
import { type Reading, readRoute } from './read-answer.js';

const schema = {
  title: 'HistoryPage',
  description: "A page of an account's history.",
  type: 'object',
  required: ['events', 'next'],
  properties: {
    events: {
      type: 'array',
      description: 'The changes, newest first.',
      items: {
        title: 'Change',
        description: 'A change of the account or of one of its webhooks.',
        type: 'object',
        required: ['at', 'actor', 'type', 'webhookId', 'changes'],
        properties: {
          at: { type: ['string', 'null'], format: 'date-time', description: 'When it was decided.' },
          actor: {
            type: ['string', 'null'],
            description:
              'Who caused it: a client id, `<client id>/<user>` in a session, an operator, or the service itself.',
          },
          type: { type: 'string', description: 'The type of the event, such as `WebhookAdded`.' },
          webhookId: { type: ['integer', 'null'], description: 'The webhook that changed. Null if none did.' },
          changes: { type: 'string', description: 'What changed, as a text. Header values and secrets are left out.' },
        },
      },
    },
    next: { type: ['string', 'null'], description: 'Send it as `before` for the next page. Null on the last page.' },
  },
} as const;

const LIST_HISTORY: Operation = {
  id: 'listHistory',
  ...READ,
  path: '/api/history',
  tag: 'History',
  summary: 'List the history of the account',
  description:
    'Lists every change of the account, its webhooks, credentials, signing secrets and sessions, page by page, newest first.',
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: `The number of changes in the page. If absent, ${PAGE_SIZE}.`,
      schema: { type: 'integer', minimum: 1, maximum: MOST_IN_A_PAGE },
    },
    { name: 'before', in: 'query', description: 'The `next` of the page before.', schema: { type: 'string' } },
  ],
  responses: {
    200: {
      description: 'A page of the history.',
      schema,
      links: {
        nextPage: {
          operationId: 'listHistory',
          description: 'The next page, if `next` is not null.',
          parameters: { before: '$response.body#/next' },
        },
      },
    },
    400: refusal('A query parameter is not valid.'),
    404: refusal('The account is not registered.'),
  },
};

export function listHistory(
  accounts: Pick<Accounts, 'credentialsNow'>,
  store: Pick<EventStore, 'read'>,
  reading: Reading,
): Route {
  return readRoute(LIST_HISTORY, reading, async (accountId, ctx) => {
    const { limit, before } = historyQuery(ctx.query);
    const now = registered(await accounts.credentialsNow(accountId));
    const end = Math.min(before ?? Number.POSITIVE_INFINITY, now.revision + 1);
    const begin = Math.max(0, end - limit);
    const events = await between(store, accountStream(accountId), begin, end);
    const make = () => ({ events: events.map(shown).reverse(), next: begin === 0 ? null : String(begin) });
    // Sealed header values make an event up to 100 times as large as what is shown of it.
    return { make, bytesRead: charactersOf(events.map(({ data }) => data)) };
  });
}

/** A page is of neighbouring revisions, so its work is bounded however long the history is. */
async function between(
  store: Pick<EventStore, 'read'>,
  stream: string,
  begin: number,
  end: number,
): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  if (begin >= end) return events;
  for await (const event of store.read(stream, begin)) {
    events.push(event);
    if (event.revision >= end - 1) break;
  }
  return events;
}

function shown(event: RecordedEvent) {
  const { at, actor, type, data } = auditEntry(event);
  const webhookId = typeof data.webhookId === 'number' ? data.webhookId : null;
  const key = keyUseOf(event);
  // IdempotencyKeyUsed has no time but that of its key.
  const time = at ?? (key && new Date(key.at).toISOString());
  return { at: time, actor, type, webhookId, changes: changesOf(accountEvent(event)) };
}

/** @throws ApiError 400 that names every wrong parameter */
function historyQuery(query: ParsedUrlQuery) {
  return readQuery(query, (read) => ({
    limit: read('limit', limitOf, NO_LIMIT) ?? PAGE_SIZE,
    before: read('before', revisionOf, 'must be the next of an earlier page'),
  }));
}

function revisionOf(text: string): number | null {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : null;
}
