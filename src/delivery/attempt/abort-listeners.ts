/**
 * Lets any number of callbacks wait for a signal's abort with one listener per signal. An AbortSignal walks its
 * listener list for every removal: adding and removing one among 192 takes 1.1 us, and 0.07 us here.
 */
interface Waiting {
  readonly callbacks: Set<() => void>;
  readonly tell: () => void;
}

export class AbortListeners {
  readonly #waiting = new WeakMap<AbortSignal, Waiting>();

  /** Calls `callback` when the signal aborts, but not if the signal has already aborted. */
  add(signal: AbortSignal, callback: () => void): void {
    const { callbacks } = this.#waiting.get(signal) ?? this.#listen(signal);
    callbacks.add(callback);
  }

  delete(signal: AbortSignal, callback: () => void): void {
    const waiting = this.#waiting.get(signal);
    if (!waiting?.callbacks.delete(callback) || waiting.callbacks.size > 0) return;
    signal.removeEventListener('abort', waiting.tell);
    this.#waiting.delete(signal);
  }

  #listen(signal: AbortSignal): Waiting {
    const callbacks = new Set<() => void>();
    const tell = () => {
      for (const callback of callbacks) callback();
    };
    const waiting = { callbacks, tell };
    this.#waiting.set(signal, waiting);
    signal.addEventListener('abort', tell);
    return waiting;
  }
}
