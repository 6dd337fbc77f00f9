/** The position up to which states are committed, for callers that wait until a given position is included. */
import type { EventStore } from '../ports/event-store.js';

interface Wait {
  readonly head: string;
  readonly passed: () => void;
}

export class PassedPlaces {
  readonly #isAtOrAfter: EventStore['isAtOrAfter'];
  readonly #waits = new Set<Wait>();
  #position: string | null = null;

  constructor(isAtOrAfter: EventStore['isAtOrAfter']) {
    this.#isAtOrAfter = isAtOrAfter;
  }

  /** @param position everything before it is committed */
  moved(position: string): void {
    this.#position = position;
    for (const wait of this.#waits) if (this.#isAtOrAfter(position, wait.head)) wait.passed();
  }

  /** What was committed may be of another history than the store's next head. */
  forget(): void {
    this.#position = null;
  }

  /** Fulfilled once `head` is passed. @throws the signal's reason if it aborts first */
  async until(head: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#position !== null && this.#isAtOrAfter(this.#position, head)) return;
    await new Promise<void>((fulfil, reject) => {
      const end = (settle: () => void) => () => {
        this.#waits.delete(wait);
        signal.removeEventListener('abort', aborted);
        settle();
      };
      const wait: Wait = { head, passed: end(fulfil) };
      const aborted = end(() => reject(signal.reason));
      this.#waits.add(wait);
      signal.addEventListener('abort', aborted);
    });
  }
}
