/** Those who wait until an event of a stream, named by its revision, has been folded. */
interface Waiter {
  readonly revision: number;
  readonly settle: (passed: boolean) => void;
}

export class RevisionWaiters {
  readonly #waiting = new Map<string, Set<Waiter>>();

  /** True once the revision has been reached; false where that took longer than `withinMs`, or it ended before. */
  wait(stream: string, revision: number, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(stream) ?? new Set();
      this.#waiting.set(stream, waiters);
      const settle = (passed: boolean) => {
        clearTimeout(timer);
        waiters.delete(waiter);
        if (waiters.size === 0) this.#waiting.delete(stream);
        resolve(passed);
      };
      const waiter: Waiter = { revision, settle };
      const timer = setTimeout(settle, withinMs, false);
      waiters.add(waiter);
    });
  }

  reached(stream: string, revision: number): void {
    for (const waiter of [...(this.#waiting.get(stream) ?? [])]) {
      if (waiter.revision <= revision) waiter.settle(true);
    }
  }

  end(): void {
    for (const waiters of [...this.#waiting.values()]) for (const waiter of [...waiters]) waiter.settle(false);
  }
}
