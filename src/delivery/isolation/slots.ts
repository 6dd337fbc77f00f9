/**
 * Slots, and the endpoint that gets the next one.
 *
 * An attempt holds its slot for its first HOLD_MS only; then it is slow: it goes on, counted for its account. So nobody waits
 * for a slot longer than that, whatever the other endpoints do. Endpoints that take deliveries and cost this process little
 * have a pool of their own. Dear ones have another, and those on probation (never tried, or failing), each for some ms of
 * the thread; on probation a failure keeps its slot for HOLD_MS, however soon it came.
 */
import type { Account, Endpoint } from './endpoint.js';

export const HOLD_MS = 50;

export class SlotPool {
  readonly #size: number;
  readonly #threadMs: number;
  #held = 0;
  /** What the attempts in the slots are expected to take of the thread. */
  #costMs = 0;
  /** Endpoints that may begin an attempt, by account. The account, and the endpoint, that had its turn last is at the end. */
  readonly #ready = new Map<Account, Set<Endpoint>>();

  /** @param threadMs what the attempts in its slots may take of the thread, together; absent: what they want */
  constructor(size: number, threadMs = Number.POSITIVE_INFINITY) {
    this.#size = size;
    this.#threadMs = threadMs;
  }

  add(endpoint: Endpoint): void {
    const ready = this.#ready.get(endpoint.account);
    if (ready) ready.add(endpoint);
    else this.#ready.set(endpoint.account, new Set([endpoint]));
  }

  delete(endpoint: Endpoint): void {
    const ready = this.#ready.get(endpoint.account);
    if (ready?.delete(endpoint) && ready.size === 0) this.#ready.delete(endpoint.account);
  }

  get canGive(): boolean {
    return this.#ready.size > 0 && this.#held < this.#size && this.#costMs < this.#threadMs;
  }

  /** Of the account with the fewest in flight, a ms of the thread counted as one; of those, the one that waited longest. */
  next(now: number, mayBegin: (account: Account) => boolean): Endpoint | undefined {
    let best: Set<Endpoint> | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [account, endpoints] of this.#ready) {
      const load = account.inFlight + account.usedMs(now);
      if (load >= least || !mayBegin(account)) continue;
      best = endpoints;
      least = load;
      if (load === 0) break;
    }
    return best?.values().next().value;
  }

  take(endpoint: Endpoint, costMs: number): void {
    this.#held += 1;
    this.#costMs += costMs;
    const ready = this.#ready.get(endpoint.account);
    if (!ready?.delete(endpoint)) return;
    ready.add(endpoint);
    this.#ready.delete(endpoint.account);
    this.#ready.set(endpoint.account, ready);
  }

  free(costMs: number): void {
    this.#held -= 1;
    // Rounding errors end with the last one.
    this.#costMs = this.#held === 0 ? 0 : this.#costMs - costMs;
  }
}
