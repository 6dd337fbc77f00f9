/** Logs a projection's progress towards the end of the store. */
import type { Logger } from '../observability/logger.js';

const TELL_EVERY_MS = 1_000;

export class CatchUpProgress {
  readonly #projection: string;
  readonly #logger: Logger;
  readonly #now: () => number;
  #events = 0;
  #startedAt = 0;
  #toldAt = 0;

  /** @param now ms, only for the pace of the messages */
  constructor(projection: string, logger: Logger, now: () => number) {
    this.#projection = projection;
    this.#logger = logger;
    this.#now = now;
  }

  start(): void {
    this.#startedAt = this.#toldAt = this.#now();
  }

  folded(events: number): void {
    this.#events += events;
  }

  catchingUp(): void {
    if (this.#now() - this.#toldAt < TELL_EVERY_MS) return;
    this.#toldAt = this.#now();
    this.#logger.info(this.#about(), 'the projection is catching up');
  }

  caughtUp(): void {
    this.#logger.info(this.#about(), 'the projection has caught up');
  }

  #about() {
    return { projection: this.#projection, events: this.#events, ms: this.#now() - this.#startedAt };
  }
}
