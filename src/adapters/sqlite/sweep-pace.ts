/**
 * How long a sweep rests after each transaction: at first, sweeping takes a twentieth of the time. A sweep that runs longer
 * than ROUND_MS does not keep up with new records, so it rests less and less, down to the duration of the transaction and
 * its commit, until it does.
 */
const ROUND_MS = 60_000;
/** Rest as a multiple of the transaction's working time. */
const MOST_REST = 19;

export class SweepPace {
  #spentMs = 0;

  /** Since the start, rests included. */
  get spentMs(): number {
    return this.#spentMs;
  }

  begin(): void {
    this.#spentMs = 0;
  }

  /** @param workedMs in the transaction @param tookMs including its turn and its commit */
  restAfter(workedMs: number, tookMs: number): number {
    const rest = Math.max(1, tookMs, (workedMs * MOST_REST) / (1 + this.#spentMs / ROUND_MS));
    this.#spentMs += tookMs + rest;
    return rest;
  }
}
