/** A page of deliveries: its schema, its query and its JSON; and the deliveries that a path names. */
import type { Context } from 'koa';
import { shownFailure } from '../../endpoints/failure.js';
import {
  type AskView,
  type DeliveriesPage,
  type DeliveryPlace,
  STATUS_CLASSES,
  type ViewAttempt,
  type ViewedDelivery,
} from '../../ports/deliveries-view.js';
import { OUTCOMES, REMOVAL, WAITING_FOR } from '../../ports/delivery-order.js';
import type { Publications } from '../../ports/send-again.js';
import { shownWait } from '../../ports/shown-wait.js';
import { ApiError } from '../api-error.js';
import { type Parameter, pathId, type Schema, WEBHOOK_ID } from '../operation.js';
import type { ReadLimit } from '../rate-limit.js';
import { viewAnswer } from '../read-answer.js';
import { callerOf } from '../request-context.js';
import { EVENT_TYPE, EXCHANGE, TIME, TIME_OR_NULL, timeText } from '../shared-schemas.js';
import { BASE64URL, ERROR_CODE, MOST_IN_A_PAGE, PAGE_SIZE } from './page-query.js';

const OUTCOME = {
  title: 'DeliveryOutcome',
  description:
    '`delivered`: the receiver answered 2xx. `retrying`: another attempt follows. `exhausted`: delivery was given up and the event is kept as a dead letter, because the last attempt failed, its time limit passed, or the service deactivated the webhook (410, or no successful delivery for too long). `cancelled`: the account deactivated or removed the webhook.',
  enum: OUTCOMES,
} as const;

export const ATTEMPT = {
  title: 'Attempt',
  description: 'One HTTPS request of a delivery.',
  type: 'object',
  required: ['at', 'status', 'error', 'durationMs', 'version'],
  properties: {
    at: { ...TIME, description: 'When the request began.' },
    ...EXCHANGE,
    version: {
      type: 'integer',
      description:
        'The version of the webhook that was used: 1 when it was first registered, one more after each update.',
    },
  },
} as const;

export const DELIVERY = {
  id: { type: 'string', description: 'The id of the delivery, which the receiver gets as `webhook-id`.' },
  eventId: { type: 'string', description: 'The id of the payment event.' },
  outcome: OUTCOME,
  held: {
    type: 'boolean',
    description:
      'True: exhausted without an attempt, because the service had deactivated the webhook when the attempt was due, and not sent again since. A recovery with `held` sends it once the webhook is active.',
  },
  endedBy: {
    type: ['string', 'null'],
    enum: [REMOVAL, null],
    description:
      '`webhook-removed`: cancelled, because the account removed the webhook while the delivery waited. It can not be sent again. Null in all other cases.',
  },
  attempts: { type: 'array', description: 'The attempts so far, oldest first.', items: ATTEMPT },
  nextAttemptAt: {
    type: ['string', 'null'],
    format: 'date-time',
    description:
      'When the next attempt is made. Null if no attempt follows, or if its time is not known: `waitingFor` says why.',
  },
  waitingFor: {
    type: ['string', 'null'],
    enum: [...WAITING_FOR, null],
    description:
      'What a `retrying` delivery waits for. `schedule`: the time in `nextAttemptAt`. `endpoint-failing`: attempts at its URL fail; it goes on once one succeeds. `endpoint-paused`: its URL asked for a pause or a lower rate (429 or 503). `queue`: other deliveries come first. Null for all other outcomes.',
  },
} as const;

export const COMPLETE_SINCE = {
  ...TIME_OR_NULL,
  description:
    'Of events that were published before this time, those that every URL accepted at the first attempt may be missing: the service had no more room for them. Null: none is missing.',
} as const;

interface Named {
  readonly title: string;
  readonly description: string;
}

export function pageSchema(about: Named, delivery: Named, properties: Schema): Schema {
  const items = { ...delivery, type: 'object', required: Object.keys(properties), properties };
  return {
    ...about,
    type: 'object',
    required: ['deliveries', 'next', 'completeSince'],
    properties: {
      deliveries: { type: 'array', description: 'The deliveries of this page, newest first.', items },
      next: {
        type: ['string', 'null'],
        description:
          'Pass as `before` to get the next page. Null on the last page: a page with a `next` may be shorter than `limit`, or empty, if few deliveries are what was asked for.',
      },
      completeSince: COMPLETE_SINCE,
    },
  };
}

export const PAGE_PARAMETERS: readonly Parameter[] = [
  limitOfPage('deliveries'),
  queried('before', 'The `next` of the previous page.', { type: 'string', pattern: BASE64URL.source }),
  queried('outcome', 'Only deliveries with this outcome.', OUTCOME),
  queried('held', '`true`: only deliveries that are held. `false`: only others.', { type: 'boolean' }),
  ...publishedWithin('deliveries of '),
];

export function limitOfPage(what: string): Parameter {
  const schema = { type: 'integer', minimum: 1, maximum: MOST_IN_A_PAGE, default: PAGE_SIZE };
  return queried('limit', `The maximum number of ${what} on a page.`, schema);
}

/** @param of `events` follows */
export function publishedWithin(of: string): readonly Parameter[] {
  return [
    queried('from', `Only ${of}events that were published at this time (ISO 8601) or later.`, TIME),
    queried('to', `Only ${of}events that were published before this time (ISO 8601).`, TIME),
  ];
}

/** What filtersOf reads. @param deliveries what is listed, as `deliveries` @param of as for publishedWithin */
export function filters(deliveries: string, of: string): readonly Parameter[] {
  const status = `Only ${deliveries} whose last attempt's status begins with this digit; \`none\`: that has none.`;
  const error = { type: 'string', pattern: ERROR_CODE.source };
  return [
    queried('webhookId', `Only ${deliveries} to this webhook.`, WEBHOOK_ID.schema),
    queried('eventType', `Only ${of}events of this type.`, EVENT_TYPE),
    queried('eventId', `Only ${of}the payment event with this id.`, { type: 'string' }),
    queried('status', status, { type: 'string', enum: STATUS_CLASSES }),
    queried('error', `Only ${deliveries} whose last attempt has this \`error\`.`, error),
  ];
}

export function queried(name: string, description: string, schema: Schema): Parameter {
  return { name, in: 'query', description, schema };
}

export function shownPage<T>(
  { deliveries, next, completeSince }: DeliveriesPage,
  now: () => Date,
  shown: (delivery: ViewedDelivery, now: number) => T,
) {
  const at = now().getTime();
  const make = () => ({
    deliveries: deliveries.map((delivery) => shown(delivery, at)),
    next: next && cursorOf(next),
    completeSince: timeText(completeSince),
  });
  return { make, isTagged: true };
}

/** @param now ms since the epoch */
export function shownDelivery(delivery: ViewedDelivery, now: number) {
  const { id, eventId, outcome, held, endedBy, attempts } = delivery;
  return { id, eventId, outcome, held, endedBy, attempts: attempts.map(shownAttempt), ...shownWait(delivery, now) };
}

export function shownAttempt({ trigger: _, actor: __, ...attempt }: ViewAttempt) {
  return shownFailure(attempt);
}

/** Without a 2xx. */
export function isFailed({ status }: ViewAttempt): boolean {
  return status === null || status < 200 || status > 299;
}

function cursorOf({ firstAt, id, payment }: DeliveryPlace): string {
  return Buffer.from(`${firstAt}.${id} ${payment}`).toString('base64url');
}

export const DELIVERY_ID = pathId(
  'The id of the delivery, which its receiver gets as `webhook-id`. All publications of an event to a webhook share it.',
);

/** Charged: an unknown id is looked up in all blocks of the view. @throws ApiError 404, 429, 503 */
export async function knownPublications(ctx: Context, view: AskView, reads: ReadLimit): Promise<Publications> {
  const { accountId } = callerOf(ctx);
  const id = String(ctx.params.id);
  await reads.turn(accountId);
  const [newest, ...others] = await viewAnswer(view, accountId, (known) => known.publications(id));
  if (!newest) throw new ApiError(404, 'delivery not found');
  return [newest, ...others];
}
