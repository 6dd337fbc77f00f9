/**
 * Confirms decisions that a dispatcher took from the read model: once that has passed an event store head that was requested
 * after the question arrived. One head answers every question that arrived before the request.
 *
 *   idle -> gathering (GATHER_MS) -> requesting the head, waiting for the read model to pass it -> answered -> idle
 *                                        ^        \-> the store is unavailable: again after a pause
 *                                        \-------------/
 *
 * Questions that arrive while a head is requested wait for the next one. All are rejected when the signal aborts.
 */
import { sleep } from '../time/retry.js';

const GATHER_MS = 5;
const ASK_AGAIN_MS = 250;

/**
 * Requests a head; fulfils once the read model has passed it.
 * @throws if the store is unavailable or the signal aborts
 */
export type PassHead = (signal: AbortSignal) => Promise<void>;

interface Question {
  /** By `now`. */
  readonly since: number;
  readonly answered: Promise<void>;
}

export class Confirmation {
  readonly #passHead: PassHead;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  #next: Question | null = null;
  #asked: Question | null = null;

  /**
   * @param signal aborted when nobody waits any longer: unconfirmed work is not done, and its records are redelivered
   * @param now ms, monotonic
   */
  constructor(passHead: PassHead, signal: AbortSignal, now: () => number) {
    this.#passHead = passHead;
    this.#signal = signal;
    this.#now = now;
  }

  /** Fulfilled when the read model has caught up with the store's state at the time of the call. */
  confirmed(): Promise<void> {
    this.#next ??= this.#newQuestion();
    return this.#next.answered;
  }

  /** For how long the oldest question has waited, in ms; 0 if none waits. */
  get waitingMs(): number {
    const oldest = this.#asked ?? this.#next;
    return oldest ? this.#now() - oldest.since : 0;
  }

  #newQuestion(): Question {
    const answered = this.#answer(this.#asked);
    // The callers may already have left.
    answered.catch(() => undefined);
    return { since: this.#now(), answered };
  }

  async #answer(before: Question | null): Promise<void> {
    await before?.answered.catch(() => undefined);
    await sleep(GATHER_MS, this.#signal);
    this.#asked = this.#next;
    this.#next = null;
    try {
      await this.#passed();
    } finally {
      this.#asked = null;
    }
  }

  /** @throws once the signal aborts */
  async #passed(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        return await this.#passHead(this.#signal);
      } catch {
        // The watch over the store's head reports an outage.
        await sleep(ASK_AGAIN_MS, this.#signal);
      }
    }
    throw new Error('the dispatcher is stopping before the event store confirmed the routing');
  }
}
