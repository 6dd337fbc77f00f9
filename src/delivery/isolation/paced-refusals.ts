/**
 * Whole lines that are refused, a few places at a time, first come, first told. To put a delivery off costs more than to
 * make it, and a breaker may open on a line of 2,000. Measured, four of 730 at once: deliveries to URLs that are well took
 * up to 450 ms then, through Kafka 870; so paced up to 150, and mostly 110 to 260.
 */
import type { Waiting, WaitingLines } from './waiting-lines.js';

const AT_A_TIME = 4;
/** At most 2,000 a second, and fewer where the process is busy: a timer comes once in a turn of the event loop. */
const PAUSE_MS = 2;

export type Later = (turn: () => void) => void;

interface Leaving<R> extends Waiting {
  readonly resolve: (refusal: R) => void;
}

export class PacedRefusals<R> {
  readonly #lines: WaitingLines;
  readonly #later: Later;
  readonly #leaving: { readonly one: Leaving<R>; readonly refusal: R }[] = [];
  #bytes = 0;
  #pauses = false;

  /**
   * @param lines in which those who leave count until they are told
   * @param later calls back after a pause; a timer without it
   */
  constructor(lines: WaitingLines, later: Later = (turn) => void setTimeout(turn, PAUSE_MS)) {
    this.#lines = lines;
    this.#later = later;
  }

  /** Those who are still to be told. */
  get left(): { readonly places: number; readonly bytes: number } {
    return { places: this.#leaving.length, bytes: this.#bytes };
  }

  refuse(line: readonly Leaving<R>[], refusal: R): void {
    for (const one of line) {
      this.#leaving.push({ one, refusal });
      this.#bytes += one.bytes;
    }
    if (!this.#pauses) this.#turn();
  }

  /** Nobody is left after it. */
  end(): void {
    this.#tell(this.#leaving.length);
  }

  #turn(): void {
    this.#pauses = this.#tell(AT_A_TIME) > 0;
    if (this.#pauses) this.#later(() => this.#turn());
  }

  /** @returns how many there were */
  #tell(most: number): number {
    const told = this.#leaving.splice(0, most);
    for (const { one, refusal } of told) {
      this.#bytes -= one.bytes;
      this.#lines.count(-1, -one.bytes);
      one.resolve(refusal);
    }
    return told.length;
  }
}
