/**
 * Compares the subscription with the event store's head, every two seconds: the liveness check of a process that only reads. A
 * subscription may stay open but silent without end, if its server is frozen or cut off; the leader's answer can't.
 *
 *   asking -> answered or unavailable -> (2 s) -> asking ...     an outage is logged when it begins, and when it ends
 *          -> lost: the store refuses us, or was replaced: the process must end
 */
import { EventEmitter, once } from 'node:events';
import type { Logger } from '../observability/logger.js';
import { type EventStore, OtherHistory, StoreRefused, StoreUnavailable } from '../ports/event-store.js';
import { sleep } from '../time/retry.js';

const ASK_EVERY_MS = 2_000;
/** A subscription that has not advanced towards a known head for that long is recreated. */
const STANDSTILL_MS = 6_000;

export interface HeadWatchParts {
  readonly store: Pick<EventStore, 'head' | 'isAtOrAfter'>;
  readonly logger: Logger;
  /** ms, monotonic. */
  readonly now: () => number;
  /** The subscription has passed a head that was asked for at `askedAt`, by `now`. */
  readonly onPassed: (askedAt: number) => void;
  /** The subscription does not advance. */
  readonly onStalled: () => void;
  readonly everyMs?: number | undefined;
}

export class HeadWatch {
  readonly #parts: HeadWatchParts;
  readonly #stopping = new AbortController();
  readonly #steps = new EventEmitter<{ moved: []; error: [StoreUnavailable] }>().setMaxListeners(0);
  #running: Promise<void> = Promise.resolve();
  /** Why the store did not answer the last request; null if it did. */
  whyNot: string | null = 'no answer yet';
  /** By `now`; null if no outage was logged. */
  #outSince: number | null = null;
  /** Everything up to here is committed; null while the subscription does not follow the store. */
  #position: string | null = null;
  #positionAtLastHead: string | null = null;
  /** When it last advanced towards a head that it has not passed, by `now`; null if it has passed the last one. */
  #movedAt: number | null = null;
  #reject: (error: Error) => void = () => undefined;
  #fulfil: () => void = () => undefined;

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

  /** ms since the subscription last advanced; 0 if it has passed the last head. */
  get behindMs(): number {
    return this.#movedAt === null ? 0 : this.#parts.now() - this.#movedAt;
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal);
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** The subscription follows the store. @param position everything up to it is committed */
  moved(position: string): void {
    this.#position = position;
    this.#steps.emit('moved');
  }

  /** The subscription ended. The store may come back restored, with a head before those that are waited for. */
  disconnected(): void {
    this.#position = null;
    this.#movedAt = null;
    if (this.#steps.listenerCount('error') > 0)
      this.#steps.emit('error', new StoreUnavailable('the subscription ended'));
  }

  /**
   * Fulfilled once the subscription has passed the store's current head.
   * @throws StoreUnavailable, also if the subscription ends meanwhile; the signal's reason if it aborts
   */
  async pass(signal: AbortSignal): Promise<void> {
    const head = await this.#parts.store.head();
    signal.throwIfAborted();
    while (!this.#hasPassed(head)) {
      await once(this.#steps, 'moved', { signal }).catch((error) => {
        throw signal.aborted ? signal.reason : error;
      });
    }
  }

  /** @param askedAt by `now` */
  saw(head: string, askedAt: number): void {
    const { now, onPassed, onStalled } = this.#parts;
    if (this.#position === null) return;
    if (this.#hasPassed(head)) {
      this.#movedAt = null;
      onPassed(askedAt);
      return;
    }
    if (this.#movedAt === null || this.#positionAtLastHead !== this.#position) this.#movedAt = now();
    this.#positionAtLastHead = this.#position;
    if (this.behindMs >= STANDSTILL_MS) onStalled();
  }

  #hasPassed(head: string): boolean {
    return this.#position !== null && this.#parts.store.isAtOrAfter(this.#position, head);
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { store, now, everyMs = ASK_EVERY_MS } = this.#parts;
    while (!signal.aborted) {
      const askedAt = now();
      // What a closed store answers is no news.
      await store.head().then(
        (head) => signal.aborted || this.#answered(head, askedAt),
        (error: Error) => signal.aborted || this.#failed(error),
      );
      await sleep(everyMs, signal);
    }
  }

  #answered(head: string, askedAt: number): void {
    const { logger, now } = this.#parts;
    if (this.#outSince !== null) logger.info({ ms: now() - this.#outSince }, 'the event store answers again');
    this.#outSince = null;
    this.whyNot = null;
    this.#fulfil();
    this.saw(head, askedAt);
  }

  #failed(error: Error): void {
    const { logger, now } = this.#parts;
    this.whyNot = error.message;
    if (error instanceof StoreRefused || error instanceof OtherHistory) {
      this.#reject(error);
      this.#stopping.abort();
    } else if (this.#outSince === null) {
      this.#outSince = now();
      logger.warn({ err: error }, 'the event store is unavailable; retrying');
    }
  }
}
