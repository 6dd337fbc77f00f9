/**
 * A deadline on external input. If this process was held up (a paused virtual machine, a slow disk), input that arrived
 * meanwhile is still unread when the timer fires, and others would seem late. So that input is read first.
 *
 * @returns cancels the deadline
 */
export function beginDeadline(ms: number, passed: () => void): () => void {
  let lastLook: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    // Immediates run after the event loop has polled all sockets once.
    lastLook = setImmediate(passed);
  }, ms).unref();
  return () => {
    clearTimeout(timer);
    clearImmediate(lastLook);
  };
}

export interface DeadlineClock {
  /** ms that never go back. */
  readonly now: () => number;
  /** Calls back after so many ms. @returns what takes it back */
  readonly after: (ms: number, passed: () => void) => () => void;
}

/** Calls back for each item after a fixed delay; one timer serves all. */
export class AgeQueue<T> {
  readonly #clock: DeadlineClock;
  readonly #delayMs: number;
  readonly #passed: (item: T) => void;
  /** When each was added, in that order. */
  readonly #since = new Map<T, number>();
  #stopTimer: (() => void) | null = null;

  constructor(clock: DeadlineClock, delayMs: number, passed: (item: T) => void) {
    this.#clock = clock;
    this.#delayMs = delayMs;
    this.#passed = passed;
  }

  add(item: T, now: number): void {
    this.#since.set(item, now);
    if (!this.#stopTimer) this.#wait(this.#delayMs);
  }

  delete(item: T): void {
    this.#since.delete(item);
  }

  /** When the oldest item's delay is over; Infinity without any. */
  get dueAt(): number {
    for (const since of this.#since.values()) return since + this.#delayMs;
    return Number.POSITIVE_INFINITY;
  }

  items(): Iterable<T> {
    return this.#since.keys();
  }

  close(): void {
    this.#since.clear();
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #wait(ms: number): void {
    this.#stopTimer = this.#clock.after(ms, () => this.#look());
  }

  /** #stopTimer stays set during the loop, so `add` does not start a second timer. */
  #look(): void {
    const now = this.#clock.now();
    for (const [item, since] of this.#since) {
      if (now - since < this.#delayMs) {
        this.#wait(this.#delayMs - (now - since));
        return;
      }
      this.#since.delete(item);
      this.#passed(item);
    }
    this.#stopTimer = null;
  }
}
