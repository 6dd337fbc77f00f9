/**
 * Confirms decisions: what a dispatcher decided by the read model counts once the read model has passed a head of the
 * event store that was asked for after the question came. One head answers every question that came before it.
 *
 *   idle -> gathering (GATHER_MS) -> asking the head and waiting until it is passed -> answered -> idle
 *                                        ^        \-> the store is away: again after a pause
 *                                        \-------------/
 * Questions that come while a head is asked for wait for the next one. All are rejected when the signal aborts.
 */
import { setTimeout as delay } from 'node:timers/promises';

const GATHER_MS = 5;
const ASK_AGAIN_MS = 250;

export interface ConfirmationParts {
  /** Asks for a head, and fulfils once the read model has passed it. @throws where the store is away, or the signal aborts */
  readonly passHead: (signal: AbortSignal) => Promise<void>;
  /** Aborted when nobody waits any more: what is not confirmed then is not done, and comes again. */
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

  /** Fulfilled when what the read model says then is at least what the store had at the time of the call. */
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

  /** Null, or why it was given up. */
  async #passed(): Promise<Error | null> {
    const { passHead, signal } = this.#parts;
    while (!signal.aborted) {
      try {
        await passHead(signal);
        return null;
      } catch {
        // The watch over the store's head tells of an outage.
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
  // Its users may have gone by another way.
  answered.catch(() => undefined);
  return { answered, settle };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
