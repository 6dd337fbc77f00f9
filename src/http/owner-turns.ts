/** One piece of costly work per owner and turn of the event loop: others come in between, however many requests an owner has. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientOwner } from '../webhooks/events.js';

const SLICE_MS = 2;

export class OwnerTurns {
  /** Owners whose turn is over; fulfilled when the last piece that waits has had its turn. */
  readonly #turns = new Map<ClientOwner, Promise<void>>();

  /** Fulfilled when the owner's turn comes. Undefined: now. */
  next(owner: ClientOwner): Promise<void> | undefined {
    const before = this.#turns.get(owner);
    if (!before) return undefined;
    const turn = before.then(() => nextTurn());
    this.#keep(owner, turn);
    return turn;
  }

  /** Call after costly work: the owner's next piece waits. */
  end(owner: ClientOwner): void {
    if (!this.#turns.has(owner)) this.#keep(owner, nextTurn());
  }

  /** Gives the items, of which each is work: after SLICE_MS of it, the next one comes in another turn. */
  async *sliced<T>(owner: ClientOwner, items: Iterable<T>): AsyncIterable<T> {
    await this.next(owner);
    let begun = performance.now();
    for (const item of items) {
      yield item;
      if (performance.now() - begun < SLICE_MS) continue;
      this.end(owner);
      await this.next(owner);
      begun = performance.now();
    }
  }

  #keep(owner: ClientOwner, turn: Promise<void>): void {
    this.#turns.set(owner, turn);
    void turn.then(() => {
      if (this.#turns.get(owner) === turn) this.#turns.delete(owner);
    });
  }
}
