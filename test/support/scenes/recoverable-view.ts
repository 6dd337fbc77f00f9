/** A deliveries view of the test's choice: the details of one account, and what recoveries have requested. */
import { readPaymentText } from '../../../src/delivery/record-place.js';
import { webhookMessageId } from '../../../src/payments/parsed-payment.js';
import type {
  AccountView,
  AskView,
  MissedPayment,
  MissedQuery,
  RecoverableQuery,
  ViewEnds,
  ViewedDelivery,
  ViewQueries,
  ViewTopic,
} from '../../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from '../generators/delivery-samples.js';
import { accountView } from './account-view.js';

/** The nth delivery, published n seconds after NOW; exhausted by default. */
export function detail(n: number, changes: Partial<ViewedDelivery> = {}): ViewedDelivery {
  const about = { id: `msg_${String(n).padStart(5, '0')}`, eventId: `pay-${n}`, eventType: 'cash_in', webhookId: 1 };
  const state = {
    outcome: 'exhausted',
    nextAttemptAt: null,
    waitingFor: null,
    held: false,
    endedBy: null,
    step: null,
    requests: 0,
    eventSource: null,
    sentAgain: false,
  } as const;
  const attempts = [{ at: new Date(NOW).toISOString(), status: 503, error: null, durationMs: 5, version: 1 }];
  const firstAt = NOW + n * 1_000;
  const of = { accountId: ACCOUNT, webhookEvent: 'added 1', payment: `payment-events/0/${n}@${firstAt}` };
  return { ...about, ...state, ...of, firstAt, attempts, routedAt: firstAt, ...changes };
}

/** The nth payment, published n seconds after NOW. */
export function missed(n: number, webhookId = 1): MissedPayment {
  const { eventId, eventSource, payment, firstAt } = detail(n);
  return { eventId, eventSource, payment, firstAt, webhookId };
}

/** The place of a delivery in the order of the view. */
const placeOf = ({ firstAt, id, payment }: ViewedDelivery) => ({ firstAt, payment, tie: id });

export class RecoverableView implements AskView {
  /** Of the view; empty: there is none. */
  id = 'view-1';
  isCaughtUp = true;
  /** The offset that it has read up to in partition 0 of a topic. */
  reached: (topic: ViewTopic) => number = () => Number.MAX_SAFE_INTEGER;
  /** By recovery, the ids of deliveries that it requested. */
  readonly requested = new Map<string, Set<string>>();
  readonly progress = { sent: 0, delivered: 0, failed: 0 };
  details: ViewedDelivery[];
  missed: MissedPayment[] = [];
  completeSince: number | null = null;

  constructor(...details: ViewedDelivery[]) {
    this.details = details;
  }

  page() {
    return { deliveries: [], next: null, completeSince: null };
  }

  async ask<T>(accountId: number, question: (view: AccountView) => Promise<T>): Promise<T | null> {
    return this.id === '' ? null : question(accountView(this.#of(accountId), this.id));
  }

  async idBehind(ends: ViewEnds): Promise<string | null> {
    const hasPassed = [...ends].every(([topic, all]) =>
      [...all.values()].every(({ first, next }) => first === next || this.reached(topic) >= next),
    );
    return this.id !== '' && hasPassed ? this.id : null;
  }

  #of(account: number): Partial<ViewQueries> {
    const details = this.details.filter(({ accountId }) => accountId === account);
    return {
      publications: (id) => details.filter((one) => one.id === id).toReversed(),
      recovery: () => this.progress,
      recoverableCount: (query) => {
        const found = details.filter((one) => isAsked(one, query));
        return { count: found.length, oldest: found[0]?.firstAt ?? null, newest: found.at(-1)?.firstAt ?? null };
      },
      // It looks at one delivery.
      nextRecoverable: (query, recovery, after) => {
        const [next] = details.filter(({ firstAt }) => firstAt > (after?.firstAt ?? 0));
        if (!next) return { delivery: null, reached: null };
        const isNext = isAsked(next, query) && !this.requested.get(recovery)?.has(next.id);
        return { delivery: isNext ? next : null, reached: placeOf(next) };
      },
      // Of one partition.
      missedCount: (query, { 'payment-events/0/': first = 0 }) => {
        const isKept = ({ payment }: MissedPayment) => (readPaymentText(payment)?.offset ?? 0) >= first;
        const found = this.missed.filter((one) => isMissed(one, query) && isKept(one));
        const [oldest, newest] = [found[0]?.firstAt ?? null, found.at(-1)?.firstAt ?? null];
        return { count: found.length, oldest, newest, completeSince: this.completeSince };
      },
      nextMissed: (query, after) => {
        const [next] = this.missed.filter(({ firstAt }) => firstAt > (after?.firstAt ?? 0));
        if (!next) return { missed: null, reached: null };
        const isRequested = [...this.requested.values()].some((ids) =>
          ids.has(webhookMessageId(account, next, next.webhookId)),
        );
        const isNext = isMissed(next, query) && !isRequested;
        return { missed: isNext ? next : null, reached: { ...next, tie: next.webhookId } };
      },
    };
  }
}

/** Payments are of cash_in. */
function isMissed({ webhookId, firstAt }: MissedPayment, { webhooks, since, until }: MissedQuery): boolean {
  const isOf = webhooks.some((one) => one.id === webhookId && one.eventType === 'cash_in');
  return isOf && firstAt >= since && firstAt < until;
}

function isAsked({ webhookId, firstAt, outcome, held }: ViewedDelivery, query: RecoverableQuery): boolean {
  const { webhookIds, since, until, include } = query;
  const isIncluded = include.some((kind) => kind === (held ? 'held' : outcome));
  return isIncluded && webhookIds.includes(webhookId) && firstAt >= since && firstAt < until;
}
