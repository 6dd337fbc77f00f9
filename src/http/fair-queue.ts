/**
 * One piece of expensive work per owner (account or publisher) and tick of the event loop: others get their turn in between,
 * however many requests an owner has. The users of an owner take turns.
 */

import { RoundRobin } from '../limits/round-robin.js';
import type { Owner, Requester } from '../limits/user-limits.js';

type Counted = Pick<Requester, 'owner' | 'user'>;

export class FairQueue {
  /** Owners that had their slice of this tick; each with the work that waits for the next ones. */
  readonly #waiting = new Map<Owner, RoundRobin<() => void>>();

  /** Fulfilled in the slice of the user. Undefined: now. */
  next(counted: Counted): Promise<void> | undefined {
    return this.#waiting.has(counted.owner) ? this.pause(counted) : undefined;
  }

  /** Call after expensive work: the owner's next piece waits. */
  end(owner: Owner): void {
    if (!this.#waiting.has(owner)) this.#open(owner);
  }

  /** Within long work: fulfilled in the next slice of the user. */
  pause({ owner, user }: Counted): Promise<void> {
    const waiting = this.#waiting.get(owner) ?? this.#open(owner);
    return new Promise((resolve) => waiting.add(user, resolve));
  }

  #open(owner: Owner): RoundRobin<() => void> {
    const waiting = new RoundRobin<() => void>();
    this.#waiting.set(owner, waiting);
    setImmediate(() => this.#tick(owner, waiting));
    return waiting;
  }

  #tick(owner: Owner, waiting: RoundRobin<() => void>): void {
    const resume = waiting.next();
    if (waiting.length === 0) this.#waiting.delete(owner);
    else setImmediate(() => this.#tick(owner, waiting));
    resume?.();
  }
}
