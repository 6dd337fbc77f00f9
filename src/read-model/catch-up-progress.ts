/** Logs a projection's progress towards the end of the store. */
import type { Logger } from '../observability/logger.js';

const LOG_EVERY_MS = 1_000;

export class CatchUpProgress {
  readonly #projection: string;
  readonly #logger: Logger;
  readonly #now: () => number;
  #events = 0;
  #startedAt = 0;
  #loggedAt = 0;
  #isFirst = true;

  /** @param now ms, only for the pace of the messages */
  constructor(projection: string, logger: Logger, now: () => number) {
    this.#projection = projection;
    this.#logger = logger;
    this.#now = now;
  }

  /** A catch-up begins: at the start, and whenever the store is out of reach. */
  start(): void {
    this.#events = 0;
    this.#startedAt = this.#loggedAt = this.#now();
  }

  folded(events: number): void {
    this.#events += events;
  }

  catchingUp(): void {
    if (this.#now() - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = this.#now();
    this.#logger.info(this.#about(), 'the projection is catching up');
  }

  /** A short catch-up is one of many on a busy machine: only the first, and long ones, are worth a line at info. */
  caughtUp(): void {
    const level = this.#isFirst || this.#now() - this.#startedAt >= LOG_EVERY_MS ? 'info' : 'debug';
    this.#isFirst = false;
    this.#logger[level](this.#about(), 'the projection has caught up');
  }

  #about() {
    return { projection: this.#projection, events: this.#events, ms: this.#now() - this.#startedAt };
  }
}
