/**
 * Slows publishers down to what the dispatcher of this process takes: a flood would be ahead of everybody's events in the
 * topic. Events are admitted in order, so many between two looks while the dispatcher keeps up. A request waits for 2 s at
 * most: events are published even if the dispatcher stands still, and bytes in progress bound their rate. A stop admits those
 * that wait, so that they are answered.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Broker } from '../../ports/broker.js';

const LOOK_EVERY_MS = 10;
const EVENTS_A_LOOK = 500;
/** More than a commit takes. */
const BEHIND_MS = 100;
const LONGEST_WAIT_MS = 2_000;

export interface PaceOptions {
  /** The age of the next record that the dispatcher of this process takes, ms; 0: it waits for records, or there is none. */
  readonly behindMs: () => number;
  readonly stopping: AbortSignal;
}

export interface Publishing extends PaceOptions {
  readonly broker: Pick<Broker, 'publish'>;
  /** The payment topics; the first one is the default. */
  readonly topics: readonly [string, ...string[]];
}

export class PublishingPace {
  readonly #behindMs: () => number;
  readonly #stopping: AbortSignal;
  #admitted = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #isBehind = false;
  #last: Promise<void> | null = null;

  constructor({ behindMs, stopping }: PaceOptions) {
    this.#behindMs = behindMs;
    this.#stopping = stopping;
  }

  /** Undefined: at once. */
  admit(events: number): Promise<void> | undefined {
    if (!this.#last && this.#has(events)) return undefined;
    const waiting = this.#waited(this.#last, performance.now() + LONGEST_WAIT_MS, events);
    this.#last = waiting;
    void waiting.then(() => {
      if (this.#last === waiting) this.#last = null;
    });
    return waiting;
  }

  async #waited(before: Promise<void> | null, until: number, events: number): Promise<void> {
    await before;
    while (!this.#has(events) && performance.now() < until) await delay(LOOK_EVERY_MS);
  }

  /** Takes them if there is room. */
  #has(events: number): boolean {
    if (this.#stopping.aborted) return true;
    const now = performance.now();
    if (now - this.#lookedAt >= LOOK_EVERY_MS) {
      this.#lookedAt = now;
      this.#admitted = 0;
      this.#isBehind = this.#behindMs() > BEHIND_MS;
    }
    if (this.#isBehind || this.#admitted >= EVENTS_A_LOOK) return false;
    this.#admitted += events;
    return true;
  }
}
