/** The counts of a report. */
import type { Answer } from './answers.js';
import type { Payment } from './audited-payment.js';

export interface Counts {
  /** Payment records; a repeated event counts as often as it was published. */
  readonly records: number;
  /** Distinct events: by account and identity. */
  readonly events: number;
  /** Records that are no payment event. */
  readonly invalid: number;
  /** Unreadable batches of the payment topics, from any time. */
  readonly unreadable: number;
  /** Events without a matching webhook. */
  readonly notDue: number;
  /** Records times webhooks. */
  readonly deliveries: number;
  readonly delivered: number;
  readonly exhausted: number;
  readonly cancelled: number;
  /** By tier, named by its delay. */
  readonly retrying: Readonly<Record<string, number>>;
  /** Deliveries and records that their consumer was not done with. */
  readonly waiting: number;
  readonly unanswered: number;
  readonly unexpected: number;
}

/** joined: by entries, or by a dead letter of the record itself. */
export type RecordState = 'joined' | 'waiting' | 'unanswered';

export class Tally {
  readonly #records = { joined: 0, waiting: 0, unanswered: 0 };
  readonly #answers = { delivered: 0, exhausted: 0, cancelled: 0, retrying: 0, waiting: 0, unanswered: 0 };
  readonly #retrying = new Map<string, number>();
  readonly #accounts = new Map<number, Map<string, boolean>>();
  #deliveries = 0;
  #unexpected = 0;

  record(state: RecordState): void {
    this.#records[state] += 1;
  }

  /** @param mayBeDue false if this record is known to match no webhook: an event may have several records */
  event({ accountId, key }: Pick<Payment, 'accountId' | 'key'>, mayBeDue: boolean): void {
    const events = this.#accounts.get(accountId) ?? new Map<string, boolean>();
    this.#accounts.set(accountId, events);
    events.set(key, mayBeDue || (events.get(key) ?? false));
  }

  delivery(answer: Answer, isUnexpected: boolean): void {
    this.#deliveries += 1;
    this.#answers[answer.kind] += 1;
    if (isUnexpected) this.#unexpected += 1;
    if (answer.kind === 'retrying') this.#retrying.set(answer.tier, (this.#retrying.get(answer.tier) ?? 0) + 1);
  }

  get counts(): Omit<Counts, 'records' | 'invalid' | 'unreadable'> {
    const [records, answers] = [this.#records, this.#answers];
    const { delivered, exhausted, cancelled } = answers;
    return {
      ...this.#events(),
      ...{ deliveries: this.#deliveries, delivered, exhausted, cancelled },
      retrying: Object.fromEntries(this.#retrying),
      waiting: records.waiting + answers.waiting,
      unanswered: records.unanswered + answers.unanswered,
      unexpected: this.#unexpected,
    };
  }

  #events(): Pick<Counts, 'events' | 'notDue'> {
    const counts = { events: 0, notDue: 0 };
    for (const events of this.#accounts.values()) {
      counts.events += events.size;
      for (const mayBeDue of events.values()) if (!mayBeDue) counts.notDue += 1;
    }
    return counts;
  }
}
