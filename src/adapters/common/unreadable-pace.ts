/**
 * Bounds how fast one partition passes unreadable batches: a topic in a codec that nobody can read must not become dead
 * letters as a whole before anybody looks.
 */
import type { UnreadableBatch } from '../../ports/broker.js';

const MOST_IN_A_ROW = 20;
const PAUSE_MS = 60_000;

/** An unreadable batch in a lane's queue. */
export interface DueBatch {
  readonly unreadable: UnreadableBatch;
  /** ms by performance.now(); meaningful once the batch is the lane's head. */
  readonly due: number;
  readonly bytes: 0;
}

export class UnreadablePace {
  #inARow = 0;
  #passedAt = Number.NEGATIVE_INFINITY;

  item(unreadable: UnreadableBatch): DueBatch {
    const due = () => this.#due;
    return {
      unreadable,
      bytes: 0,
      get due() {
        return due();
      },
    };
  }

  /** The lane's head was handed out. */
  passed(head: object): void {
    const isUnreadable = 'unreadable' in head;
    this.#inARow = isUnreadable ? this.#inARow + 1 : 0;
    if (isUnreadable) this.#passedAt = performance.now();
  }

  /** The batch before which the partition pauses; null if it does not. */
  blockedBy(head: object | undefined): UnreadableBatch | null {
    const batch = head && 'unreadable' in head ? (head as DueBatch) : null;
    return batch && this.#inARow >= MOST_IN_A_ROW ? batch.unreadable : null;
  }

  get #due(): number {
    return this.#inARow < MOST_IN_A_ROW ? 0 : this.#passedAt + PAUSE_MS;
  }
}
