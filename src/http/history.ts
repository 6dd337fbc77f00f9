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
import { pageLimit, parameter, readQuery } from './query.js';
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
    'Lists every change of the account, its webhooks, credentials, signing secrets and sessions, page by page, newest first.',
  query: {
    limit: pageLimit('changes'),
    before: parameter('The `next` of the page before.', { type: 'string' }, revisionOf, { code: 'not-a-cursor' }),
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
    const { limit, before } = readQuery(LIST_HISTORY.query, ctx.query);
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

function revisionOf(text: string): number | null {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : null;
}
