/**
 * Confirms decisions. A decision that a dispatcher took from the read model is final once the read model has passed an
 * event store head that was requested after the question arrived. One head answers every question that arrived before
 * the request.
 *
 *   idle -> gathering (GATHER_MS) -> requesting the head, waiting for the read model to pass it -> answered -> idle
 *                                        ^        \-> the store is unavailable: again after a pause
 *                                        \-------------/
 *
 * Questions that arrive while a head is requested wait for the next one. All are rejected when the signal aborts.
 */
import { setTimeout as delay } from 'node:timers/promises';

const GATHER_MS = 5;
const ASK_AGAIN_MS = 250;

export interface ConfirmationParts {
  /**
   * Requests a head; fulfils once the read model has passed it.
   * @throws if the store is unavailable or the signal aborts
   */
  readonly passHead: (signal: AbortSignal) => Promise<void>;
  /** Aborted when nobody waits any longer: unconfirmed work is not done, and its records are redelivered. */
  readonly signal: AbortSignal;
}

interface Question {
  readonly answered: Promise<void>;
  readonly settle: (error: Error | null) => void;
}

export class Confirmation {
  readonly #parts: ConfirmationParts;
  #next: Question | null = null;
  #isAsking = false;

  constructor(parts: ConfirmationParts) {
    this.#parts = parts;
  }

  /** Fulfilled when the read model has caught up with the store's state at the time of the call. */
  confirmed(): Promise<void> {
    this.#next ??= newQuestion();
    const { answered } = this.#next;
    if (!this.#isAsking) void this.#ask();
    return answered;
  }

  async #ask(): Promise<void> {
    const { signal } = this.#parts;
    this.#isAsking = true;
    while (this.#next) {
      await pause(GATHER_MS, signal);
      const { settle } = this.#next;
      this.#next = null;
      settle(await this.#passed());
    }
    this.#isAsking = false;
  }

  /** Null, or the reason for giving up. */
  async #passed(): Promise<Error | null> {
    const { passHead, signal } = this.#parts;
    while (!signal.aborted) {
      try {
        await passHead(signal);
        return null;
      } catch {
        // The watch over the store's head reports an outage.
        await pause(ASK_AGAIN_MS, signal);
      }
    }
    return new Error('the dispatcher is stopping before the event store confirmed the routing');
  }
}

function newQuestion(): Question {
  let settle: Question['settle'] = () => undefined;
  const answered = new Promise<void>((fulfil, reject) => {
    settle = (error) => (error ? reject(error) : fulfil());
  });
  // The callers may already have left.
  answered.catch(() => undefined);
  return { answered, settle };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
