/** GET /api/history: who changed what, and when: the account's events, page by page, newest first. */
import { Ajv } from 'ajv';
import { OWN_SCHEMAS } from '../payments/payment-event-schema.js';
import type { RecordedEvent } from '../ports/event-store.js';
import { auditEntry } from '../read-model/account-log.js';
import {
  count,
  countOrNull,
  flag,
  list,
  object,
  oneOf,
  optional,
  orNull,
  type Schema,
  text,
  textOrNull,
  time,
  timeOrNull,
  whole,
} from '../schema.js';
import { readTime } from '../time/iso-time.js';
import { accountEvent } from '../webhooks/envelope.js';
import { changesOf, detailsOf, OFF_REASONS } from '../webhooks/event-changes.js';
import { accountStream } from '../webhooks/events.js';
import { registered } from './api-error.js';
import { type AskedQuery, mustBe, PAGE_LIMIT, parameter, textQuery, timeQuery } from './query.js';
import { read } from './read-answer.js';

const CONFIGURATION = orNull(
  object('ShownConfiguration', 'What a webhook, or the notices, were or are. Null: nothing.', {
    eventType: optional(text('The type of its events. Absent of notices.')),
    url: text('The URL, as it was given.'),
    headers: list('The names of its headers.', text('A name.')),
  }),
);

const DETAILS = object('ChangeDetails', 'What changed. The type of the change says which fields there are.', {
  before: optional(CONFIGURATION),
  after: optional(CONFIGURATION),
  headersChanged: optional(flag('Whether the name or the value of a header changed. A value is never shown.')),
  reason: optional(oneOf(OFF_REASONS, 'Why it was switched off.')),
  clientId: optional(text('The credential.')),
  sessionId: optional(text('The session.')),
  user: optional(textOrNull('Its user.')),
  can: optional(list('Its rights.', text('A right.'))),
  url: optional(text('The URL that fails, or works again.')),
  since: optional(time('Since when it failed; of a recovery, from when on.')),
  until: optional(time('The end of the session; of a recovery, until when.')),
  deactivatesAt: optional(timeOrNull('When the URL is switched off. Null: never.')),
  recoveryId: optional(text('The recovery.')),
  webhookIds: optional(list('The webhooks of the recovery.', whole('An id.'))),
  count: optional(count('How many deliveries it sends.')),
  perSecond: optional(count('How many a second.')),
  state: optional(text('`done` or `stopped`.')),
  passedBy: optional(countOrNull('How many could not be sent.')),
});

const ajv = new Ajv({
  ...OWN_SCHEMAS,
  allowUnionTypes: true,
  formats: { 'date-time': (text: string) => readTime(text) !== null },
});
const IS_SHOWN = new Map(
  Object.entries(DETAILS.properties as Readonly<Record<string, Schema>>).map(([name, schema]) => [
    name,
    ajv.compile(schema),
  ]),
);

const CHANGE = object('Change', 'A change of the account or of one of its webhooks.', {
  at: timeOrNull('When it was decided.'),
  actor: textOrNull('Who caused it: a client id, `<client id>/<user>`, an operator, or the service.'),
  type: text('The type of the event, such as `WebhookAdded`.'),
  webhookId: orNull(whole('The webhook that changed. Null if none did.')),
  details: DETAILS,
  changes: text('The same for people. Header values and secrets are left out.'),
});

const FILTERS = {
  actor: textQuery('Only changes that this `actor` caused.'),
  type: textQuery('Only changes of this type, such as `WebhookAdded`.'),
  from: timeQuery('Only changes at this time (ISO 8601) or later.'),
  to: timeQuery('Only changes before this time (ISO 8601).'),
};

const REVISION = /^(0|[1-9]\d{0,14})$/;

export const listHistory = read({
  id: 'listHistory',
  path: '/api/history',
  description:
    'Lists every change of the account, its webhooks, credentials, signing secrets and sessions, page by page, newest first. With a filter a page looks at 1,000 changes: it may be short, or empty, with a `next`.',
  query: {
    limit: PAGE_LIMIT,
    before: parameter(
      'The `next` of the page before.',
      { type: 'string', pattern: REVISION.source },
      (text) => (REVISION.test(text) ? Number(text) : null),
      mustBe('the `next` of a page before'),
    ),
    ...FILTERS,
  },
  returns: object('HistoryPage', "A page of an account's history.", {
    events: list('The changes, newest first.', CHANGE),
    next: textOrNull('Send it as `before` for the next page. Null on the last page.'),
  }),
}).answer(async ({ accounts, store }, { accountId, query, place }) => {
  const { limit, before, ...filters } = query;
  const now = registered(await accounts.credentialsNow(accountId));
  const end = Math.min(before ?? Number.POSITIVE_INFINITY, now.revision + 1);
  const isFiltered = Object.values(filters).some((filter) => filter !== null);
  const begin = Math.max(0, end - (isFiltered ? LOOKED_AT : limit));
  const found = begin < end ? await shownUntil(end, place.paced(store.read(accountStream(accountId), begin))) : [];
  const matching = found.filter((each) => matches(each, filters)).reverse();
  const events = matching.slice(0, limit).map(({ change }) => change);
  // The next page begins before the last of this one, where there are more.
  const next = matching[limit] ? (matching[limit - 1]?.revision ?? begin) : begin;
  return () => ({ events, next: next === 0 ? null : String(next) });
});

/** By a page with a filter. */
const LOOKED_AT = 1_000;

type Found = ReturnType<typeof shown>;

function matches({ change: { at, actor, type } }: Found, filters: AskedQuery<typeof FILTERS>): boolean {
  const isOf = (filters.actor ?? actor) === actor && (filters.type ?? type) === type;
  const decidedAt = at ? Date.parse(at) : 0;
  return isOf && decidedAt >= (filters.from ?? 0) && decidedAt < (filters.to ?? Number.POSITIVE_INFINITY);
}

/**
 * A page is of neighbouring revisions, so its work is bounded however long the history is. Sealed header values make an event
 * up to 100 times as large as what is shown of it, which is all that is kept.
 */
async function shownUntil(end: number, events: AsyncIterable<RecordedEvent>): Promise<Found[]> {
  const found: Found[] = [];
  for await (const event of events) {
    found.push(shown(event));
    if (event.revision >= end - 1) break;
  }
  return found;
}

function shown(event: RecordedEvent) {
  const { at, actor, type, data } = auditEntry(event);
  const webhookId = typeof data.webhookId === 'number' ? data.webhookId : null;
  const stored = accountEvent(event);
  const details = shownOf(detailsOf(stored));
  return {
    revision: event.revision,
    change: { at, actor, type, webhookId, details, changes: changesOf(stored, details) },
  };
}

/** Others may write to the store, and a fold checks only what it reads: a field that is not as described is left out. */
function shownOf<Details extends object>(details: Details): Partial<Details> {
  const shown = Object.entries(details).filter(([name, value]) => value !== undefined && IS_SHOWN.get(name)?.(value));
  return Object.fromEntries(shown) as Partial<Details>;
}
