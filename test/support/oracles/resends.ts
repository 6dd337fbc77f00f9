/**
 * Judges a simulation of resends by what was published and attempted, and by nothing that src/delivery concludes from it:
 * delivered wins; a later chain ends an earlier one; an accepted cancellation is never sent; nothing is lost.
 */
import { requestIn } from '../../../src/delivery/again/request.js';
import { readLogRecord } from '../../../src/delivery/log/log-record.js';
import type { NewRecord, ReceivedRecord } from '../../../src/ports/broker.js';
import type { Outcome } from '../../../src/ports/delivery-order.js';
import type { DeliveryLogEntry } from '../../../src/ports/log-entry.js';

interface Requested {
  readonly chain: number;
  readonly cancels: boolean;
}

interface Attempted {
  /** The webhook-id and the payment's record. */
  readonly delivery: string;
  readonly chain: number;
  /** Whether its dispatcher has the record at this moment. */
  readonly isOwned: boolean;
  /** Whether its dispatcher has read the request with this offset. */
  readonly hasRead: (offset: number) => boolean;
}

export class ResendJudge {
  readonly violations: string[] = [];
  readonly #requests = new Map<string, Requested[]>();
  readonly #entries = new Map<string, DeliveryLogEntry[]>();
  /** By dispatcher, the steps whose attempts it logged. */
  readonly #steps = new WeakMap<object, Set<string>>();

  /** By delivery, all entries in the order of their publication. */
  get entries(): ReadonlyMap<string, readonly DeliveryLogEntry[]> {
    return this.#entries;
  }

  requested(record: ReceivedRecord): void {
    const { delivery, places, cancels } = requestIn(record) ?? { places: [] };
    for (const place of places) {
      const key = `${delivery?.id} ${place}`;
      this.#requests.set(key, [
        ...(this.#requests.get(key) ?? []),
        { chain: record.offset + 1, cancels: cancels === true },
      ]);
    }
  }

  attempted({ delivery, chain, isOwned, hasRead }: Attempted): void {
    if (!isOwned) this.violations.push(`${delivery}: attempted in chain ${chain} by a dispatcher that lost its record`);
    for (const later of this.#requests.get(delivery) ?? []) {
      if (later.chain <= chain || !hasRead(later.chain - 1)) continue;
      const what = later.cancels ? 'cancellation' : 'request';
      this.violations.push(`${delivery}: attempted in chain ${chain} though the ${what} ${later.chain} had been read`);
    }
  }

  logged(by: object, records: readonly NewRecord[]): void {
    for (const entry of records.flatMap((record) => readLogRecord(record).deliveries)) {
      const key = `${entry.id} ${entry.payment}`;
      this.#entries.set(key, [...(this.#entries.get(key) ?? []), entry]);
      if (entry.attempt) this.#mustBeOnce(by, key, entry);
    }
  }

  /** The first attempt of a payment is repeated if the payment's record is handed out again: every later step is taken once. */
  #mustBeOnce(by: object, key: string, { chain, attempts }: DeliveryLogEntry): void {
    const steps = this.#steps.get(by) ?? new Set();
    this.#steps.set(by, steps);
    const step = `${key} chain ${chain} attempt ${attempts}`;
    if (steps.has(step) && chain + attempts > 1) this.violations.push(`${step}: made twice by one dispatcher`);
    steps.add(step);
  }

  /**
   * After everything has ended.
   * @param deliveries every webhook-id with each payment's record
   * @param letters the chains of its dead letters
   * @param said the outcome according to the service
   */
  ended(
    deliveries: readonly string[],
    letters: (delivery: string) => readonly number[],
    said: (delivery: string) => Outcome | null,
  ) {
    for (const delivery of deliveries) {
      const expected = this.#outcome(delivery, letters(delivery));
      const found = said(delivery);
      if (expected === null) this.violations.push(`${delivery}: lost`);
      else if (expected !== found) this.violations.push(`${delivery}: ${found}, and not ${expected}`);
    }
  }

  /** Null: it was lost. */
  #outcome(delivery: string, letters: readonly number[]): Outcome | null {
    const entries = this.#entries.get(delivery) ?? [];
    if (entries.some(({ outcome }) => outcome === 'delivered')) return 'delivered';
    const last = this.#requests.get(delivery)?.at(-1) ?? { chain: 0, cancels: false };
    const exhausted = entries.filter(({ outcome }) => outcome === 'exhausted').map(({ chain }) => chain);
    // What was exhausted before is still to be recovered after a cancellation.
    if (last.cancels) return exhausted.length > 0 ? 'exhausted' : 'cancelled';
    return exhausted.includes(last.chain) && letters.includes(last.chain) ? 'exhausted' : null;
  }
}
