/**
 * Whole lines that are refused, a few places at a time. To put a delivery off costs more than to make it, and a breaker
 * may open on a line of 2,000. Measured, four of 730 at once: deliveries to URLs that are well took up to 450 ms then,
 * through Kafka 870; so paced up to 150, and 220.
 */
const AT_A_TIME = 4;
/** At most 2,000 a second, and fewer where the process is busy: a timer comes once in a turn of the event loop. */
const PAUSE_MS = 2;

export type Later = (turn: () => void) => void;

interface Leaving<R> {
  readonly resolve: (refusal: R) => void;
}

export class PacedRefusals<R> {
  readonly #later: Later;
  readonly #leaving: { readonly one: Leaving<R>; readonly refusal: R }[] = [];
  #isPaced = false;

  /** @param later calls back after a pause; a timer without it */
  constructor(later: Later = (turn) => void setTimeout(turn, PAUSE_MS)) {
    this.#later = later;
  }

  /** How many are still to be told. */
  get length(): number {
    return this.#leaving.length;
  }

  refuse(line: readonly Leaving<R>[], refusal: R): void {
    for (const one of line) this.#leaving.push({ one, refusal });
    if (!this.#isPaced) this.#turn();
  }

  /** Nobody is left after it. */
  refuseAll(refusal: R): void {
    for (const { one } of this.#leaving.splice(0)) one.resolve(refusal);
  }

  #turn(): void {
    for (const { one, refusal } of this.#leaving.splice(0, AT_A_TIME)) one.resolve(refusal);
    this.#isPaced = this.#leaving.length > 0;
    if (this.#isPaced) this.#later(() => this.#turn());
  }
}
