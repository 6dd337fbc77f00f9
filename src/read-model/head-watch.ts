/**
 * Polls the event store's head every two seconds: the liveness check of a process that only reads. A subscription may stay
 * open but silent without end, if its server is frozen or cut off; the leader's answer can't.
 *
 *   asking -> answered -> (2 s) -> asking ...     an outage is logged once when it begins, and once when it ends
 *          -> unavailable -> (2 s) -> asking ...
 *          -> lost: the store refuses us, or was replaced: the process must end
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../observability/logger.js';
import { type EventStore, OtherHistory, StoreRefused } from '../ports/event-store.js';

const ASK_EVERY_MS = 2_000;

export interface HeadWatchParts {
  readonly store: Pick<EventStore, 'head'>;
  readonly logger: Logger;
  /** ms, monotonic. */
  readonly now: () => number;
  /** Called with each head, and when it was asked for, by `now`. */
  readonly onHead: (head: string, askedAt: number) => void;
  readonly everyMs?: number;
}

export class HeadWatch {
  readonly #parts: HeadWatchParts;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #whyNot: string | null = 'no answer yet';
  /** By `now`; null if no outage was logged. */
  #outSince: number | null = null;
  #reject: (error: Error) => void = () => undefined;
  #fulfil: () => void = () => undefined;

  /** Fulfilled with the first answer. */
  readonly answered: Promise<void> = new Promise((fulfil) => {
    this.#fulfil = fulfil;
  });

  /** Rejected if retrying won't help. */
  readonly lost: Promise<never> = new Promise((_, reject) => {
    this.#reject = reject;
  });

  constructor(parts: HeadWatchParts) {
    this.#parts = parts;
    this.lost.catch(() => undefined);
  }

  /** Why the store did not answer the last request; null if it did. */
  get whyNot(): string | null {
    return this.#whyNot;
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { everyMs = ASK_EVERY_MS } = this.#parts;
    while (!signal.aborted) {
      await this.#ask(signal);
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #ask(signal: AbortSignal): Promise<void> {
    const askedAt = this.#parts.now();
    try {
      const head = await this.#parts.store.head();
      if (!signal.aborted) this.#answered(head, askedAt);
    } catch (error) {
      // An error of a closed store is no news.
      if (!signal.aborted) this.#failed(error as Error);
    }
  }

  #answered(head: string, askedAt: number): void {
    const { logger, now, onHead } = this.#parts;
    if (this.#outSince !== null) logger.info({ ms: now() - this.#outSince }, 'the event store answers again');
    this.#outSince = null;
    this.#whyNot = null;
    this.#fulfil();
    onHead(head, askedAt);
  }

  #failed(error: Error): void {
    const { logger, now } = this.#parts;
    this.#whyNot = error.message;
    if (error instanceof StoreRefused || error instanceof OtherHistory) {
      this.#reject(error);
      this.#stopping.abort();
    } else if (this.#outSince === null) {
      this.#outSince = now();
      logger.warn({ err: error }, 'the event store is unavailable; retrying');
    }
  }
}
