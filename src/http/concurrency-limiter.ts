/**
 * Limits the concurrent reads of an account, and of each of its users. Further ones wait, and the users take turns: a user who
 * has all permits of its own does not hold up the others.
 */

import { RoundRobin } from '../limits/round-robin.js';
import type { Requester } from '../limits/user-limits.js';
import { USER_SHARE } from '../limits/user-limits.js';
import { ApiError, retryAfter } from './api-error.js';

const MAX_PER_ACCOUNT = 16;
const MAX_PER_USER = 4;
const MAX_WAITING = 128;
const MAX_WAIT_MS = 2_000;

type Owner = Requester['owner'];

interface Permits {
  /** The user of each permit that is taken. */
  readonly taken: string[];
  readonly waiting: RoundRobin<() => void>;
}

export class ConcurrencyLimiter {
  readonly #permits = new Map<Owner, Permits>();

  /** Fulfilled with a permit: release it. @throws ApiError 429 if too many wait, or none becomes free in time */
  async acquire(requester: Requester): Promise<void> {
    const { owner, user } = requester;
    const permits = this.#permits.get(owner) ?? { taken: [], waiting: new RoundRobin() };
    this.#permits.set(owner, permits);
    if (isFree(permits, user) || requester.mayExceed()) permits.taken.push(user);
    else if (mayWait(permits, user)) await freed(permits, user);
    else throw tooMany();
  }

  release({ owner, user }: Pick<Requester, 'owner' | 'user'>): void {
    const permits = this.#permits.get(owner);
    if (!permits) return;
    permits.taken.splice(permits.taken.indexOf(user), 1);
    permits.waiting.next((other) => isFree(permits, other))?.();
    if (permits.taken.length === 0) this.#permits.delete(owner);
  }
}

function isFree({ taken }: Permits, user: string): boolean {
  return taken.length < MAX_PER_ACCOUNT && taken.filter((one) => one === user).length < MAX_PER_USER;
}

function mayWait({ waiting }: Permits, user: string): boolean {
  return waiting.length < MAX_WAITING && waiting.lengthFor(user) < MAX_WAITING * USER_SHARE;
}

function freed({ taken, waiting }: Permits, user: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const admit = () => {
      clearTimeout(timer);
      taken.push(user);
      resolve();
    };
    const timer = setTimeout(() => {
      waiting.remove(user, admit);
      reject(tooMany());
    }, MAX_WAIT_MS);
    waiting.add(user, admit);
  });
}

function tooMany(): ApiError {
  return new ApiError({ code: 'too-many-waiting' }, retryAfter(MAX_WAIT_MS));
}
