/** The position up to which states are committed, for callers that wait until a given position is included. */
import { type EventStore, StoreUnavailable } from '../ports/event-store.js';

interface Wait {
  readonly head: string;
  readonly passed: () => void;
  readonly failed: (error: Error) => void;
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

  /** The connection is lost: the store may come back restored, with a head before those that are waited for. */
  forget(): void {
    this.#position = null;
    for (const { failed } of this.#waits) failed(new StoreUnavailable('the subscription ended'));
  }

  /** Fulfilled once `head` is passed. @throws StoreUnavailable if the connection is lost, the signal's reason if it aborts */
  async until(head: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#position !== null && this.#isAtOrAfter(this.#position, head)) return;
    await new Promise<void>((fulfil, reject) => {
      const end = (settle: () => void) => {
        this.#waits.delete(wait);
        signal.removeEventListener('abort', aborted);
        settle();
      };
      const wait: Wait = { head, passed: () => end(fulfil), failed: (error) => end(() => reject(error)) };
      const aborted = () => end(() => reject(signal.reason));
      this.#waits.add(wait);
      signal.addEventListener('abort', aborted);
    });
  }
}
