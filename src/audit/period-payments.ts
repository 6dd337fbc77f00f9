/** The payment records of a period, with the webhooks that each was due to, put into the ledger. */
import { parsePaymentEvent } from '../delivery/payment-event.js';
import type { ReceivedRecord } from '../ports/broker.js';
import type { EventStore } from '../ports/event-store.js';
import { loadProjection } from '../read-model/projection-source.js';
import { accountStream } from '../webhooks/events.js';
import type { EventType } from '../webhooks/limits.js';
import { type ActiveSpan, activeAt, activeSpans } from './active-webhooks.js';
import type { DueWebhook, Ledger } from './ledger.js';

/**
 * As long as a record may wait to be routed without anybody calling it a backlog. Only a webhook whose active span ended
 * within it after the publication may have been gone when the event was routed. Hazard: without this bound whoever
 * switches a webhook off would change what was said of all that was published before.
 */
export const ROUTED_WITHIN_MS = 10 * 60_000;

/** Records published from `from` on and before `to`, in ms since the epoch. */
export interface Period {
  readonly from: number;
  readonly to: number;
  /** Null: of every account. */
  readonly account: number | null;
}

/** Puts a record into the ledger, where it is of the period. @throws StoreUnavailable */
export function createPaymentReader(store: Pick<EventStore, 'read'>, period: Period, ledger: Ledger) {
  const dueTo = createDueTo(store);
  return async (record: ReceivedRecord): Promise<void> => {
    const { topic, partition, offset, timestamp } = record;
    if (timestamp < period.from || timestamp >= period.to) return;
    const parsed = parsePaymentEvent(record);
    const accountId = parsed.ok ? parsed.event.accountId : accountOfKey(record);
    if (period.account !== null && period.account !== accountId) return;
    if (!parsed.ok) return ledger.invalid(`${topic}/${partition}/${offset}`);
    const { event } = parsed;
    ledger.payment(event, await dueTo(event.accountId, event.type, timestamp));
  };
}

/** Each account's history is folded once. */
function createDueTo(store: Pick<EventStore, 'read'>) {
  const projection = loadProjection('account-webhooks');
  const accounts = new Map<number, readonly ActiveSpan[]>();
  return async (accountId: number, type: EventType, at: number): Promise<readonly DueWebhook[]> => {
    const spans = accounts.get(accountId) ?? (await activeSpans(store.read(accountStream(accountId)), projection));
    accounts.set(accountId, spans);
    return activeAt(spans, type, at).map(({ webhookId, until }) => ({
      webhookId,
      goneSoon: until - at <= ROUTED_WITHIN_MS,
    }));
  };
}

/** All that a record which is no payment event may say of its account: payment systems publish by it. */
function accountOfKey({ key }: ReceivedRecord): number | null {
  const text = key?.toString('utf8') ?? '';
  return /^[1-9]\d{0,15}$/.test(text) ? Number(text) : null;
}

/**
 * From when on a topic has all of its records, as far as it shows: it may have lost to its retention what was published
 * before the oldest that each partition has.
 */
export class CompleteSince {
  readonly #oldest = new Map<number, number>();

  /** In the order of offsets within each partition. */
  saw({ partition, offset, timestamp }: ReceivedRecord): void {
    if (!this.#oldest.has(partition)) this.#oldest.set(partition, offset === 0 ? Number.NEGATIVE_INFINITY : timestamp);
  }

  /** ms since the epoch; -Infinity where nothing is missing. */
  get time(): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...this.#oldest.values());
  }
}
