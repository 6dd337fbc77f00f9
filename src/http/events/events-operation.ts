/** What GET /api/events takes and answers, with its cursors. */
import { parseUrl } from '../../endpoints/endpoint-url.js';
import { ARRIVED, ARRIVED_FILTERS, type FeedPosition, type ListPlace } from '../../ports/deliveries-view.js';
import { OUTCOMES } from '../../ports/delivery-order.js';
import { flag, list, object, oneOf, orNull, text, textOrNull, whole } from '../../schema.js';
import { COMPLETE_SINCE, isText } from '../deliveries/delivery-page.js';
import {
  choiceQuery,
  cursorOf,
  cursorQuery,
  FILTERS,
  mustBe,
  PAGE_LIMIT,
  parameter,
  textQuery,
  webhookIdQuery,
} from '../query.js';
import { read } from '../read-answer.js';
import { EVENT_TYPE, PUBLISHED_AT } from '../shared-schemas.js';

/** `start` begins with the oldest event. */
function orStart<P extends { readonly read: (text: string) => FeedPosition | null }>(parameter: P): P {
  return { ...parameter, read: (text: string) => (text === 'start' ? new Map() : parameter.read(text)) };
}

const SENT_TO = object('SentTo', 'A delivery of the event.', {
  webhookId: whole('The webhook, which may have been removed since.'),
  deliveryId: text('The id of the delivery.'),
  outcome: orNull(oneOf(OUTCOMES, 'The outcome of the delivery so far. Null: it is on its way to its first attempt.')),
  held: flag('Whether it was not sent because the service had deactivated the webhook. Recovering sends it.'),
});

const ARRIVAL = oneOf(
  ARRIVED,
  'How many of the deliveries of the event were delivered. `nobody`: it has none. `nowhere`: none of them. `part`: some. `all`: each.',
  { title: 'Arrived' },
);

const EVENT = object('PublishedEvent', 'A payment event that was published for the account.', {
  cursor: text('The place of the event: `before` or `after`, as the page was asked for, goes on from it.'),
  eventId: text('The id of the payment event.'),
  eventType: EVENT_TYPE,
  publishedAt: PUBLISHED_AT,
  payload: textOrNull('The event as it was published. Null if it is not kept, or not for the caller.'),
  amount: textOrNull('Its amount, as text. Null if it has none, or not for the caller.'),
  reference: textOrNull('Such as its end-to-end id. Null if it has none, or not for the caller.'),
  arrived: ARRIVAL,
  sentTo: list('The deliveries of the event.', SENT_TO),
  notSent: orNull(
    oneOf(
      ['no-webhook', 'held'],
      'Why the event was sent to no URL. `no-webhook`: the account had no active webhook of the type. `held`: the service had deactivated each of them.',
    ),
  ),
});

const FEED =
  'To poll, pass `after=start`, later the `next` of each answer: then the events come in the order in which the service routed them, roughly oldest first, and none is skipped, whatever is published meanwhile and whichever process answers. Poll again at once if `more` is true, else after a pause. An event may come again, as a webhook may: store each `eventId`.';

export const LIST_EVENTS = read({
  id: 'listEvents',
  path: '/api/events',
  description: `Lists all payment events that were published for the account, and what they were sent to, page by page. Without \`after\`: newest first, by the time of publication. ${FEED} Events appear once they are routed, usually within a second, and are listed for as long as deliveries are. An event that was published twice is listed twice.`,
  query: {
    limit: PAGE_LIMIT,
    before: cursorQuery('The `next` of the previous page, or the `cursor` of an event on it.', readPlace),
    after: orStart(
      cursorQuery('`start`, or the `next` of an earlier answer, or the `cursor` of an event in it.', readPosition),
    ),
    ...FILTERS,
    webhookId: webhookIdQuery('Only events with a delivery to this webhook.'),
    arrived: choiceQuery(
      ARRIVED_FILTERS,
      'Only events of which so many deliveries were delivered, as in `arrived`. `incomplete`: `nowhere` or `part`.',
    ),
    url: parameter(
      'Only events with a delivery to a webhook that has this URL now.',
      { type: 'string', format: 'uri' },
      (given) => parseUrl(given)?.href ?? null,
      mustBe('a URL'),
    ),
    reference: textQuery(
      'Only events with this reference, of which the newest 1,000 are searched. A session needs the right `payloads` for it.',
    ),
  },
  returns: object('EventPage', 'A page of events. It may be short, or empty: `more` says whether there are others.', {
    events: list('The events of this page.', EVENT),
    next: textOrNull('Pass it as the `before` or `after` that was given. Null on the last page, never with `after`.'),
    more: flag('Whether more can be read now, with `next`.'),
    completeSince: COMPLETE_SINCE,
  }),
});

/** Cursors of events are of two kinds, which don't mix: a place in time, for `before`; how far a reader of the log is, for `after`. */
export function placeCursor({ firstAt, payment }: Pick<ListPlace, 'firstAt' | 'payment'>): string {
  return cursorOf([firstAt, payment]);
}

function readPlace(json: unknown): ListPlace | null {
  const [firstAt, payment, more] = Array.isArray(json) ? json : [];
  return Number.isSafeInteger(firstAt) && isText(payment) && more === undefined ? { firstAt, payment, tie: '' } : null;
}

export function positionCursor(position: FeedPosition): string {
  return cursorOf({ after: [...position].map(([partition, { offset, index }]) => [partition, offset, index]) });
}

/** Of the topic of deliveries. Each event of a page has the position in all of them as its cursor. */
const MAX_PARTITIONS = 256;

function readPosition(json: unknown): FeedPosition | null {
  const { after }: { readonly after?: unknown } = json ?? {};
  if (!Array.isArray(after) || after.length > MAX_PARTITIONS || !after.every(isPassed)) return null;
  return new Map(after.map(([partition, offset, index]) => [partition, { offset, index }]));
}

/** Partition, offset and index. */
function isPassed(passed: unknown): passed is readonly [number, number, number] {
  return Array.isArray(passed) && passed.length === 3 && passed.every((one) => Number.isSafeInteger(one) && one >= 0);
}
