/**
 * Lanes blocked by an unreadable batch: onUnreadable is called for each until its promise is fulfilled.
 *
 *   blocked -> asked -> passed                  (fulfilled: the lane goes on behind the batch)
 *                \-> pausing -> asked ...       (rejected)
 *                \-> dropped                    (the lane is gone, or the consumer stops)
 */

import type { ConsumeOptions, UnreadableBatch } from '../../ports/broker.js';
import { sleep } from '../../time/retry.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** A blocked lane. */
export interface Stopped {
  /** Continues behind the unreadable batch. */
  passUnreadable(): void;
}

interface Standstill {
  readonly batch: UnreadableBatch;
  readonly gone: AbortController;
}

type Ask = NonNullable<ConsumeOptions['onUnreadable']>;

export class Standstills {
  readonly #ask: Ask | undefined;
  readonly #passed: () => void;
  readonly #blocked = new Map<Stopped, Standstill>();

  /** @param passed called after a lane was unblocked */
  constructor(ask: Ask | undefined, passed: () => void) {
    this.#ask = ask;
    this.#passed = passed;
  }

  /** Once for each batch; repeated calls with the same batch have no effect. */
  at(lane: Stopped, batch: UnreadableBatch): void {
    const known = this.#blocked.get(lane);
    if (!this.#ask || known?.batch === batch) return;
    known?.gone.abort();
    const standstill = { batch, gone: new AbortController() };
    this.#blocked.set(lane, standstill);
    void this.#until(lane, standstill, this.#ask);
  }

  /** Drops all lanes but these. */
  keep(lanes: ReadonlySet<Stopped>): void {
    for (const [lane, { gone }] of this.#blocked) {
      if (lanes.has(lane)) continue;
      gone.abort();
      this.#blocked.delete(lane);
    }
  }

  /** Never rejects. */
  async #until(lane: Stopped, { batch, gone: { signal } }: Standstill, ask: Ask): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const may = await ask(batch, signal).then(
        () => true,
        () => false,
      );
      if (may && !signal.aborted) {
        this.#blocked.delete(lane);
        lane.passUnreadable();
        this.#passed();
        return;
      }
      await sleep(pause, signal);
    }
  }
}
