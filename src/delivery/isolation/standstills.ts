const LEAST_MS = 1_000;

/**
 * For how long the process has stood still: it was suspended, its virtual machine was paused, or one callback took seconds. An
 * attempt that was in flight then has taken that much longer, which shows nothing about its endpoint.
 */
export class Standstills {
  /** All of them together. */
  ms = 0;
  #until = 0;

  /** @param dueAt when a timer that has not passed yet was due. After a standstill responses may be read before timers pass */
  look(dueAt: number, now: number): void {
    const lateMs = now - Math.max(dueAt, this.#until);
    if (lateMs < LEAST_MS) return;
    this.ms += lateMs;
    this.#until = now;
  }
}
