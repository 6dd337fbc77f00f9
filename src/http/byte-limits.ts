/** Limits the bytes that requests, and answers that are not taken, hold in memory: of an account or publisher, and in all. */
import type { ClientOwner } from '../webhooks/events.js';

export interface MostBytes {
  readonly ownerBytes: number;
  readonly processBytes: number;
}

export class ByteLimits {
  readonly #most: MostBytes;
  readonly #byOwner = new Map<ClientOwner, number>();
  #all = 0;

  constructor(most: MostBytes) {
    this.#most = most;
  }

  /** False: there is no room, and nothing is taken. */
  take(owner: ClientOwner, bytes: number): boolean {
    const { ownerBytes, processBytes } = this.#most;
    const ofOwner = this.#byOwner.get(owner) ?? 0;
    if (ofOwner + bytes > ownerBytes || this.#all + bytes > processBytes) return false;
    this.#add(owner, bytes);
    return true;
  }

  giveBack(owner: ClientOwner, bytes: number): void {
    this.#add(owner, -bytes);
  }

  #add(owner: ClientOwner, bytes: number): void {
    this.#all += bytes;
    const now = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (now > 0) this.#byOwner.set(owner, now);
    else this.#byOwner.delete(owner);
  }
}
