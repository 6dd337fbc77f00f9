/**
 * Slots, and the endpoint that gets the next one.
 *
 * An attempt holds its slot for its first HOLD_MS only; then it is slow: it goes on, counted for its account. So nobody waits
 * for a slot longer than that, whatever the other endpoints do. Endpoints that take deliveries and cost this process little
 * have a pool of their own. So have those never tried, dear ones, and failing ones, each for some ms of the thread; a failing
 * one keeps its slot for HOLD_MS, however soon its attempt failed.
 */
import type { Account, Endpoint } from './endpoint.js';

export const HOLD_MS = 50;

export interface SlotLimits {
  readonly slots: number;
  /** What the attempts in the slots may take of the thread, together. */
  readonly ms: number;
}

/** Of two accounts, the one with less begins. */
export type LoadOf = (account: Account, now: number) => number;

export class SlotPool {
  readonly #limits: () => SlotLimits;
  readonly #loadOf: LoadOf;
  #held = 0;
  /** What the attempts in the slots are expected to take of the thread. */
  costMs = 0;
  /** Endpoints that may begin an attempt, by account. The account, and the endpoint, that had its turn last is at the end. */
  readonly #ready = new Map<Account, Set<Endpoint>>();

  constructor(limits: () => SlotLimits, loadOf: LoadOf) {
    this.#limits = limits;
    this.#loadOf = loadOf;
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

  /** Whether one waits for this process, and not for slow attempts of its own account. */
  isAwaitedBy(mayBegin: (account: Account) => boolean): boolean {
    for (const account of this.#ready.keys()) if (mayBegin(account)) return true;
    return false;
  }

  get held(): number {
    return this.#held;
  }

  /** Whether an endpoint waits for a slot. */
  get isAwaited(): boolean {
    return this.#ready.size > 0;
  }

  get canGive(): boolean {
    if (!this.isAwaited) return false;
    const { slots, ms } = this.#limits();
    return this.#held < slots && this.costMs < ms;
  }

  /** Of the account with the least load; of those, the one that waited longest. */
  next(now: number, mayBegin: (account: Account) => boolean): Endpoint | undefined {
    let best: Set<Endpoint> | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [account, endpoints] of this.#ready) {
      const load = this.#loadOf(account, now);
      if (load >= least || !mayBegin(account)) continue;
      best = endpoints;
      least = load;
      if (load === 0) break;
    }
    return best?.values().next().value;
  }

  take(endpoint: Endpoint, costMs: number): void {
    this.#held += 1;
    this.costMs += costMs;
    const ready = this.#ready.get(endpoint.account);
    if (!ready?.delete(endpoint)) return;
    ready.add(endpoint);
    this.#ready.delete(endpoint.account);
    this.#ready.set(endpoint.account, ready);
  }

  free(costMs: number): void {
    this.#held -= 1;
    // Rounding errors end with the last one.
    this.costMs = this.#held === 0 ? 0 : this.costMs - costMs;
  }
}
