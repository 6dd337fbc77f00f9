/** A page of deliveries: its schema, its query and its JSON; and the deliveries that a path names. */
import type { Context } from 'koa';
import { shownFailure } from '../../endpoints/failure.js';
import type { ListPlace, ViewedDelivery } from '../../ports/deliveries-view.js';
import { OUTCOMES, REMOVAL, WAITING_FOR } from '../../ports/delivery-order.js';
import type { LoggedAttempt } from '../../ports/log-entry.js';
import type { Publications } from '../../ports/send-again.js';
import { shownWait } from '../../ports/shown-wait.js';
import { flag, list, object, oneOf, orNull, text, time, timeOrNull, whole } from '../../schema.js';
import { ApiError } from '../api-error.js';
import type { ApiParts } from '../api-parts.js';
import { choiceQuery, cursorQuery, FILTERS, flagQuery, PAGE_LIMIT } from '../query.js';
import { viewAnswer } from '../read-answer.js';
import { callerOf, requesterOf } from '../request-context.js';
import { EVENT_TYPE, EXCHANGE, PUBLISHED_AT, timeText } from '../shared-schemas.js';
import { findPending } from './pending-deliveries.js';

const OUTCOME = oneOf(
  OUTCOMES,
  '`delivered`: the receiver answered 2xx. `retrying`: another attempt follows. `exhausted`: delivery was given up and the event is kept as a dead letter, because the last attempt failed, its time limit passed, or the service deactivated the webhook (410, or no successful delivery for too long). `cancelled`: the account deactivated or removed the webhook.',
  { title: 'DeliveryOutcome' },
);

export const ATTEMPT_FIELDS = {
  at: time('When the request began.'),
  ...EXCHANGE,
  version: whole('The version of the webhook: 1 when it was registered, one more after each update.'),
};

export const DELIVERY = {
  id: text('The id of the delivery, which the receiver gets as `webhook-id`.'),
  webhookId: whole('The webhook, which may have been removed since.'),
  eventId: text('The id of the payment event.'),
  eventType: EVENT_TYPE,
  publishedAt: PUBLISHED_AT,
  outcome: OUTCOME,
  held: flag('True: exhausted, because the service had deactivated the webhook. A recovery sends it.'),
  endedBy: orNull(
    oneOf([REMOVAL], '`webhook-removed`: cancelled, because the webhook was removed. Null in all other cases.'),
  ),
  attempts: list(
    'The attempts so far, oldest first.',
    object('Attempt', 'One HTTPS request of a delivery.', ATTEMPT_FIELDS),
  ),
  nextAttemptAt: timeOrNull('When the next attempt is made. Null if none follows, or if `waitingFor` says why not.'),
  waitingFor: orNull(
    oneOf(
      WAITING_FOR,
      'What a `retrying` delivery waits for. `schedule`: the time in `nextAttemptAt`. `endpoint-failing`: attempts at its URL fail; it goes on once one succeeds. `endpoint-paused`: its URL asked for a pause or a lower rate (429 or 503). `queue`: other deliveries come first. Null for all other outcomes.',
    ),
  ),
};

export const COMPLETE_SINCE = timeOrNull(
  'Of events that were published before this time, those that every URL accepted at the first attempt may be missing: the service had no more room for them. Null: none is missing.',
);

export const PAGE_QUERY = {
  limit: PAGE_LIMIT,
  before: cursorQuery('The `next` of the previous page.', placeOf),
  outcome: choiceQuery(OUTCOMES, 'Only deliveries with this outcome.', OUTCOME),
  held: flagQuery('`true`: only deliveries that are held. `false`: only others.'),
  ...FILTERS,
};

/** @param now ms since the epoch */
export function shownDelivery(delivery: ViewedDelivery, now: number) {
  const { id, webhookId, eventId, eventType, outcome, held, endedBy } = delivery;
  const about = { id, webhookId, eventId, eventType, publishedAt: publishedAt(delivery), outcome, held, endedBy };
  return { ...about, attempts: delivery.attempts.map(shownAttempt), ...shownWait(delivery, now) };
}

export function shownAttempt({ trigger: _, actor: __, response: ___, ...attempt }: LoggedAttempt) {
  return shownFailure(attempt);
}

export function publishedAt({ firstAt }: Pick<ViewedDelivery, 'firstAt'>): string | null {
  return timeText(firstAt || null);
}

/** Without a 2xx. */
export function isFailed({ status }: LoggedAttempt): boolean {
  return status === null || status < 200 || status > 299;
}

function placeOf(json: unknown): ListPlace | null {
  const [firstAt, id, payment] = Array.isArray(json) ? json : [];
  return Number.isSafeInteger(firstAt) && isText(id) && isText(payment) ? { firstAt, payment, tie: id } : null;
}

export function isText(given: unknown): given is string {
  return typeof given === 'string';
}

/** Admit the caller first: an unknown id is looked up in all blocks of the view. @throws ApiError 404, 503 */
export async function knownPublications(
  ctx: Context,
  { view, accounts }: Pick<ApiParts, 'view' | 'accounts'>,
): Promise<Publications> {
  const { accountId } = callerOf(ctx);
  const id = String(ctx.params.id);
  const [newest, ...others] = await viewAnswer(view, requesterOf(ctx), async (known) => {
    const [before] = await known.publications(id);
    const pending = await findPending(known, accounts, { accountId, id, eventId: before?.eventId ?? null });
    // Read again: a delivery that gets its first entry during the search is no longer pending.
    const stored = await known.publications(id);
    const isStored = ({ payment }: ViewedDelivery) => stored.some((one) => one.payment === payment);
    const all = [...pending.filter((one) => !isStored(one)), ...stored];
    return all.sort((one, other) => other.firstAt - one.firstAt);
  });
  if (!newest) throw new ApiError({ code: 'delivery-not-found' });
  return [newest, ...others];
}
