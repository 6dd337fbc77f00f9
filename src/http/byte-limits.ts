/**
 * Limits the bytes that requests, and responses that are not read, hold in memory: of a user, of an account or publisher, and
 * of the process.
 */
import type { Owner, Requester } from '../limits/user-limits.js';

export interface MaxBytes {
  readonly user: number;
  readonly owner: number;
  readonly process: number;
}

export class ByteLimits {
  readonly #max: MaxBytes;
  readonly #byUser = new Map<string, number>();
  readonly #byOwner = new Map<Owner, number>();
  #all = 0;

  constructor(max: MaxBytes) {
    this.#max = max;
  }

  /** False: there is no room, and nothing is taken. */
  take(requester: Requester, bytes: number): boolean {
    if (!this.#hasRoom(requester, bytes) && !requester.mayExceed()) return false;
    this.#add(requester, bytes);
    return true;
  }

  giveBack(requester: Requester, bytes: number): void {
    this.#add(requester, -bytes);
  }

  #hasRoom(requester: Requester, bytes: number): boolean {
    const ofUser = this.#byUser.get(keyOf(requester)) ?? 0;
    const ofOwner = this.#byOwner.get(requester.owner) ?? 0;
    const { user, owner, process } = this.#max;
    return ofUser + bytes <= user && ofOwner + bytes <= owner && this.#all + bytes <= process;
  }

  #add(requester: Requester, bytes: number): void {
    this.#all += bytes;
    addTo(this.#byUser, keyOf(requester), bytes);
    addTo(this.#byOwner, requester.owner, bytes);
  }
}

function keyOf({ owner, user }: Requester): string {
  return `${owner} ${user}`;
}

function addTo<Key>(sums: Map<Key, number>, key: Key, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum > 0) sums.set(key, sum);
  else sums.delete(key);
}
