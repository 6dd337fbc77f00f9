/** What GET /api/events takes and answers, with its cursors. */

import { parseUrl } from '../../endpoints/endpoint-url.js';
import { ARRIVED, type EventPlace, type FeedPosition } from '../../ports/deliveries-view.js';
import { OUTCOMES } from '../../ports/delivery-order.js';
import { flag, list, object, oneOf, orNull, text, textOrNull, whole } from '../../schema.js';
import { COMPLETE_SINCE } from '../deliveries/delivery-page.js';
import {
  choiceQuery,
  cursorQuery,
  decoded,
  FILTERS,
  PAGE_LIMIT,
  parameter,
  textQuery,
  webhookIdQuery,
} from '../query.js';
import { read } from '../read-answer.js';
import { EVENT_TYPE, PUBLISHED_AT } from '../shared-schemas.js';

/** The `after` that begins with the oldest event. */
const START = 'start';

const SENT_TO = object('SentTo', 'A delivery of the event.', {
  webhookId: whole('The webhook, which may have been removed since.'),
  deliveryId: text('The id of the delivery.'),
  outcome: orNull(oneOf(OUTCOMES, 'The outcome of the delivery so far. Null before its first attempt.')),
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
    after: cursorQuery(
      `\`${START}\`, or the \`next\` of an earlier answer, or the \`cursor\` of an event in it.`,
      readPosition,
    ),
    ...FILTERS,
    webhookId: webhookIdQuery('Only events with a delivery to this webhook.'),
    arrived: choiceQuery(ARRIVED, 'Only events of which so many deliveries were delivered.', ARRIVAL),
    url: parameter(
      'Only events with a delivery to a webhook that has this URL, or had it last.',
      { type: 'string' },
      (given) => parseUrl(given)?.href ?? null,
      { code: 'not-a-url' },
    ),
    reference: textQuery('Only events with this reference. A session needs the right `payloads` for it.'),
  },
  responses: {
    200: object('EventPage', 'A page of events. It may be short, or empty: `more` says whether there are others.', {
      events: list('The events of this page.', EVENT),
      next: textOrNull('Pass it as the `before` or `after` that was given. Null on the last page, never with `after`.'),
      more: flag('Whether more can be read now, with `next`.'),
      completeSince: COMPLETE_SINCE,
    }),
    400: 'A query parameter is not valid, or both `before` and `after` are given.',
  },
});

/**
 * Cursors of events, in base64url. They are of two kinds, which don't mix: a place in time, for `before`; and how far a reader
 * of the log is, for `after`.
 *
 *   t<ms>.<payment>                        newest first
 *   f<partition>:<offset>.<index>,...      in the order of the log; all numbers in base 36
 */
const PLACE = /^t(\d{1,16})\.([!-~]{1,400})$/;
/** Ten digits in base 36 are a safe integer. */
const PASSED = /^([0-9a-z]{1,6}):([0-9a-z]{1,10})\.([0-9a-z]{1,6})$/;

export function placeCursor({ firstAt, payment }: EventPlace): string {
  return encoded(`t${firstAt}.${payment}`);
}

/** Null for any other text. */
function readPlace(cursor: string): EventPlace | null {
  const [, firstAt, payment] = PLACE.exec(decoded(cursor)) ?? [];
  return firstAt !== undefined && payment !== undefined ? { firstAt: Number(firstAt), payment } : null;
}

export function positionCursor(position: FeedPosition): string {
  const passed = [...position].map(([partition, { offset, index }]) => {
    return `${partition.toString(36)}:${offset.toString(36)}.${index.toString(36)}`;
  });
  return encoded(`f${passed.join()}`);
}

/** Null for any other text. */
function readPosition(cursor: string): FeedPosition | null {
  const text = cursor === START ? 'f' : decoded(cursor);
  if (!text.startsWith('f')) return null;
  const passed = text.slice(1).split(',').filter(Boolean).map(readPassed);
  return passed.every((one) => one !== null) ? new Map(passed) : null;
}

function readPassed(text: string) {
  const digits = PASSED.exec(text)?.slice(1);
  if (!digits) return null;
  const [partition = 0, offset = 0, index = 0] = digits.map((number) => Number.parseInt(number, 36));
  return [partition, { offset, index }] as const;
}

function encoded(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}
