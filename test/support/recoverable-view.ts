/** A deliveries view of the test's choice: the details of one account, and what recoveries have put back. */
import type { DeliveriesView, DeliveryDetail, RecoverableQuery } from '../../src/ports/deliveries-view.js';
import { ACCOUNT, NOW } from './delivery-samples.js';

/** The nth delivery, published n seconds after NOW; exhausted by default. */
export function detail(n: number, changes: Partial<DeliveryDetail> = {}): DeliveryDetail {
  const about = { id: `msg_${String(n).padStart(5, '0')}`, eventId: `pay-${n}`, eventType: 'cash_in', webhookId: 1 };
  const state = {
    outcome: 'exhausted',
    nextAttemptAt: null,
    held: false,
    endedBy: null,
    turn: 1,
    step: null,
    before: null,
    sentAgain: false,
  } as const;
  const attempts = [{ at: new Date(NOW).toISOString(), status: 503, error: null, durationMs: 5, version: 1 }];
  const firstAt = NOW + n * 1_000;
  const of = { accountId: ACCOUNT, webhookEvent: 'added 1', payment: `payment-events/0/${n}@${firstAt}` };
  return { ...about, ...state, ...of, firstAt, attempts, routedAt: firstAt, responses: new Map(), ...changes };
}

export class RecoverableView {
  /** Of the view; empty: there is none. */
  id = 'view-1';
  /** The offset that it has read up to in partition 0. */
  reached = () => Number.MAX_SAFE_INTEGER;
  /** By recovery, the ids of deliveries that it put back. */
  readonly putBack = new Map<string, Set<string>>();
  readonly progress = { sent: 0, delivered: 0, failed: 0 };
  details: DeliveryDetail[];

  constructor(...details: DeliveryDetail[]) {
    this.details = details;
  }

  page() {
    return { deliveries: [], next: null };
  }

  ask<T>(question: (view: DeliveriesView) => T, nothing: T): T {
    return this.id === '' ? nothing : question(this.#view as DeliveriesView);
  }

  get #view(): Partial<DeliveriesView> {
    const of = (account: number) => this.details.filter(({ accountId }) => accountId === account);
    return {
      id: this.id,
      positions: () => new Map([[0, { offset: this.reached(), before: null }]]),
      publications: (account, id) =>
        of(account)
          .filter((one) => one.id === id)
          .toReversed(),
      recovery: () => this.progress,
      recoverableCount: (query) => {
        const found = this.#found(query);
        return { count: found.length, oldest: found[0]?.firstAt ?? null, newest: found.at(-1)?.firstAt ?? null };
      },
      recoverable: (query, after, limit) =>
        this.#found(query)
          .filter(({ firstAt }) => firstAt > (after?.firstAt ?? 0))
          .slice(0, limit),
    };
  }

  #found({ accountId, webhookId, since, until, include, recovery }: RecoverableQuery): DeliveryDetail[] {
    const done = this.putBack.get(recovery ?? '');
    return this.details
      .filter((one) => one.accountId === accountId && one.webhookId === webhookId)
      .filter(({ firstAt }) => firstAt >= since && firstAt < until)
      .filter(({ outcome, held }) => include.some((kind) => kind === (held ? 'held' : outcome)))
      .filter(({ id }) => !done?.has(id));
  }
}
