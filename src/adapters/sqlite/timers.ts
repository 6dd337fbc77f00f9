/** Timers that are stopped together; after that none starts. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();
  #stopped = false;

  start(ms: number, then: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      then();
    }, ms);
    this.#running.add(timer);
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
