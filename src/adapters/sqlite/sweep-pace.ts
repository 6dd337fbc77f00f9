/**
 * How long a sweep rests after each transaction: at first it takes a twentieth of the time. One that goes on for longer than
 * ROUND_MS does not keep up with what is published, so it rests less and less, down to as long as it took with its commit, until it does.
 */
const ROUND_MS = 60_000;
/** So many times as long as the transaction worked. */
const MOST_REST = 19;

export class SweepPace {
  #spentMs = 0;

  /** Since it began, rests included. */
  get spentMs(): number {
    return this.#spentMs;
  }

  begin(): void {
    this.#spentMs = 0;
  }

  /** @param workedMs in the transaction @param tookMs with its turn and its commit */
  restAfter(workedMs: number, tookMs: number): number {
    const rest = Math.max(1, tookMs, (workedMs * MOST_REST) / (1 + this.#spentMs / ROUND_MS));
    this.#spentMs += tookMs + rest;
    return rest;
  }
}
