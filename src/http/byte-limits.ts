/**
 * Limits the bytes that requests, and responses that are not read, hold in memory: of a user, of an account or publisher, and
 * of the process.
 */
import type { Owner, Requester } from '../limits/user-limits.js';

type Counted = Pick<Requester, 'owner' | 'user'>;

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
  take(counted: Counted, bytes: number): boolean {
    if (!this.#hasRoom(counted, bytes)) return false;
    this.#add(counted, bytes);
    return true;
  }

  giveBack(counted: Counted, bytes: number): void {
    this.#add(counted, -bytes);
  }

  #hasRoom(counted: Counted, bytes: number): boolean {
    const ofUser = this.#byUser.get(keyOf(counted)) ?? 0;
    const ofOwner = this.#byOwner.get(counted.owner) ?? 0;
    const { user, owner, process } = this.#max;
    return ofUser + bytes <= user && ofOwner + bytes <= owner && this.#all + bytes <= process;
  }

  #add(counted: Counted, bytes: number): void {
    this.#all += bytes;
    addTo(this.#byUser, keyOf(counted), bytes);
    addTo(this.#byOwner, counted.owner, bytes);
  }
}

function keyOf({ owner, user }: Counted): string {
  return `${owner} ${user}`;
}

function addTo<Key>(sums: Map<Key, number>, key: Key, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum > 0) sums.set(key, sum);
  else sums.delete(key);
}
