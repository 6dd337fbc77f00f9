/** One piece of costly work per owner and turn of the event loop: others come in between, however many requests an owner has. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientOwner } from '../webhooks/events.js';

export class OwnerTurns {
  /** Owners whose turn is over; fulfilled when the last piece that waits has had its turn. */
  readonly #turns = new Map<ClientOwner, Promise<void>>();

  /** Fulfilled when the owner's turn comes. Undefined: now. */
  next(owner: ClientOwner): Promise<void> | undefined {
    return this.#turns.has(owner) ? this.pause(owner) : undefined;
  }

  /** Call after costly work: the owner's next piece waits. */
  end(owner: ClientOwner): void {
    if (!this.#turns.has(owner)) void this.pause(owner);
  }

  /** Within long work: fulfilled when the owner's turn comes again. */
  pause(owner: ClientOwner): Promise<void> {
    const before = this.#turns.get(owner);
    const turn = before ? before.then(() => nextTurn()) : nextTurn();
    this.#turns.set(owner, turn);
    void turn.then(() => {
      if (this.#turns.get(owner) === turn) this.#turns.delete(owner);
    });
    return turn;
  }
}
