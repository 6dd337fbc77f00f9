/** A delivery as the port shows it, from its row, its event's and those of its attempts. */
import type { DeliveryDetail, ViewedDelivery } from '../../../ports/deliveries-view.js';
import { REMOVAL, type WaitingFor } from '../../../ports/delivery-order.js';
import type { SqliteFile } from '../open-file.js';
import { type AttemptRow, attemptOf, inOrder, parsed } from './attempt-row.js';
import { outcomeOf, STATE } from './delivery-row.js';
import type { Columns } from './schema.js';

/** Of the asking account's webhooks. */
export type IsRemoved = (webhookId: number) => boolean;

type StoredDelivery = Columns<
  'row' | 'account_id' | 'webhook_id' | 'first_at' | 'state',
  'id' | 'webhook_event' | 'event_id' | 'event_type' | 'payment',
  'next_at' | 'requested' | 'event_source'
> & { readonly waiting_for: WaitingFor | null } & {
  readonly [Column in 'step' | 'given_state' | 'progressed' | 'routed_at']: number | null;
};

/** SQL: of a payment without a known place there is none. */
export const PAYMENT = `iif(substr(payment, 1, 1) = '?', '', payment)`;
export const WITH_EVENT = 'CROSS JOIN events ON events.row = deliveries.event';

/** As after the removal of its webhook: what waits has ended, before a dispatcher reports it. */
export function shownState(state: number, isRemoved: boolean): number {
  return isRemoved && state === STATE.retrying ? STATE.removed : state;
}

export class ShownDeliveries {
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#sql = statements(file);
  }

  /** @param row its number */
  viewed(row: number, isRemoved: IsRemoved): ViewedDelivery {
    const stored = this.#sql.one.get(row) as StoredDelivery;
    return viewedOf(stored, this.#attempts(row), isRemoved(stored.webhook_id));
  }

  detail(row: number, isRemoved: IsRemoved): DeliveryDetail {
    const stored = this.#sql.one.get(row) as StoredDelivery;
    return detailOf(stored, this.#attempts(row), isRemoved(stored.webhook_id));
  }

  #attempts(row: number): readonly AttemptRow[] {
    return inOrder(this.#sql.attempts.all(row) as AttemptRow[]);
  }
}

function viewedOf(row: StoredDelivery, attempts: readonly AttemptRow[], isRemoved: boolean): ViewedDelivery {
  const { id, webhook_id: webhookId, event_type: eventType, first_at: firstAt } = row;
  const state = shownState(row.state, isRemoved);
  const isWaiting = state === STATE.retrying;
  return {
    id,
    webhookId,
    eventId: JSON.parse(row.event_id) as string,
    eventType,
    firstAt,
    outcome: outcomeOf(state),
    held: state === STATE.held,
    endedBy: state === STATE.removed ? REMOVAL : null,
    nextAttemptAt: isWaiting ? row.next_at : null,
    waitingFor: isWaiting ? row.waiting_for : null,
    attempts: attempts.map(attemptOf),
  };
}

function detailOf(row: StoredDelivery, attempts: readonly AttemptRow[], isRemoved: boolean): DeliveryDetail {
  const { account_id: accountId, webhook_event: webhookEvent, state, step, routed_at: routedAt } = row;
  const requested = row.requested === null ? [] : (JSON.parse(row.requested) as number[]);
  const hadEnded = outcomeOf(state) === 'delivered' || row.given_state !== null;
  const isAsked = (requested.at(-1) ?? 0) > (row.progressed ?? 0);
  return {
    ...viewedOf(row, attempts, isRemoved),
    accountId,
    eventSource: parsed(row.event_source),
    payment: row.payment || null,
    webhookEvent,
    step: state === STATE.retrying ? step : null,
    requests: requested.length,
    sentAgain: hadEnded && isAsked && !isRemoved,
    routedAt,
    responses: responsesOf(attempts),
  };
}

/** By the start of the attempt. */
function responsesOf(attempts: readonly AttemptRow[]): ReadonlyMap<string, string> {
  const answered = attempts.filter(({ response }) => response !== null);
  return new Map(answered.map(({ at, response }) => [new Date(at).toISOString(), response ?? '']));
}

function statements(file: SqliteFile) {
  return {
    one: file.prepare(
      `SELECT deliveries.*, event_id, event_source, event_type, routed_at, ${PAYMENT} AS payment
       FROM deliveries ${WITH_EVENT} WHERE deliveries.row = ?`,
    ),
    attempts: file.prepare('SELECT * FROM attempts WHERE delivery = ?'),
  };
}
