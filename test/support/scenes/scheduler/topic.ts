/**
 * The topic of payments as a process consumes it (record-pump.ts): accounts take turns, backpressure holds records back, and a
 * limited number is in progress. A record is done when each of its deliveries was attempted or deferred.
 */
import { TurnQueue } from '../../../../src/adapters/common/turn-queue.js';
import type { Processor } from './processor.js';

/** As the dispatcher has it. */
const IN_FLIGHT = 16_384;
const MOST_MS_A_TURN = 20;
const AGAIN_MS = 1;
/** Assumed: parsing and routing. The rest of what a payment costs is part of its attempts. */
export const PAYMENT_MS = 0.05;

export interface Published {
  /** The account. */
  readonly turn: string;
  /** @returns fulfilled when the record is done */
  readonly consume: () => Promise<unknown>;
}

interface TopicParts {
  readonly mayBegin: (isUsual: boolean) => boolean;
  readonly processor: Processor;
  readonly now: () => number;
  readonly after: (ms: number, passed: () => void) => void;
}

export class Topic {
  readonly #parts: TopicParts;
  readonly #waiting: TurnQueue<Published>;
  #inProgress = 0;
  #isPolling = false;

  constructor(parts: TopicParts) {
    this.#parts = parts;
    this.#waiting = new TurnQueue({ now: parts.now });
  }

  publish(record: Published): void {
    this.#waiting.add(record);
    this.#poll(0);
  }

  #poll(ms: number): void {
    if (this.#isPolling || this.#waiting.length === 0) return;
    this.#isPolling = true;
    this.#parts.after(ms + this.#parts.processor.lateMs(), () => {
      this.#isPolling = false;
      this.#consume();
    });
  }

  #consume(): void {
    const { processor } = this.#parts;
    for (let ms = 0; ms < MOST_MS_A_TURN; ms += PAYMENT_MS) {
      const record = this.#next();
      if (!record) break;
      processor.works(PAYMENT_MS);
      this.#inProgress += 1;
      void record.consume().then(() => {
        this.#inProgress -= 1;
        this.#poll(0);
      });
    }
    this.#poll(AGAIN_MS);
  }

  #next(): Published | undefined {
    const { mayBegin } = this.#parts;
    if (this.#inProgress >= IN_FLIGHT) return undefined;
    const onlyUsual = !mayBegin(false);
    if (onlyUsual && !(this.#waiting.head(true) && mayBegin(true))) return undefined;
    return this.#waiting.take(onlyUsual);
  }
}
