/** The queues of endpoints that may start another attempt, by their class (places.ts), and the endpoint whose turn it is. */
import type { Account, Endpoint } from './endpoint.js';
import { type Places, QUEUES } from './places.js';

export class EndpointQueues {
  readonly #turns = {
    swift: new Turns<Account, Endpoint>(),
    proven: new Turns<Account, Endpoint>(),
    fresh: new Turns<Account, Endpoint>(),
    kept: new Turns<Account, Endpoint>(),
    failing: new Turns<Account, Endpoint>(),
  };
  #turn = 0;

  /** Call after a change of its line, window, trust or account: moves the endpoint to the queue that it belongs to now. */
  place(endpoint: Endpoint): void {
    const queue = endpoint.dueQueue;
    if (queue === endpoint.queue) return;
    if (endpoint.queue) this.#turns[endpoint.queue].delete(endpoint);
    if (!endpoint.queue) endpoint.turn = ++this.#turn;
    endpoint.queue = queue;
    if (queue) this.#turns[queue].add(endpoint);
  }

  /** It has had its turn, and one attempt more: to the end, if it may start another. */
  toTheEnd(endpoint: Endpoint): void {
    const { queue, account } = endpoint;
    endpoint.turn = ++this.#turn;
    this.place(endpoint);
    if (queue) this.#turns[queue].hadTurn(endpoint);
    this.moved(account);
  }

  /** The account has more attempts in progress, or fewer. */
  moved(account: Account): void {
    for (const queue of QUEUES) this.#turns[queue].moved(account);
  }

  /** @param accounts how many are in the gate. @returns the endpoint whose turn it is, if a place is free for its class */
  next(places: Places, accounts: number): Endpoint | undefined {
    let next: Endpoint | undefined;
    for (const queue of QUEUES) {
      const first = this.#turns[queue].next;
      if (!first || !places.isFreeFor(queue, first.account.underWay, accounts)) continue;
      if (!next || isBefore(first, next)) next = first;
    }
    return next;
  }
}

/** Whether its account has fewer attempts in progress, or as many and it has waited longer. */
function isBefore(one: Endpoint, other: Endpoint): boolean {
  const fewer = one.account.underWay - other.account.underWay;
  return fewer < 0 || (fewer === 0 && one.turn < other.turn);
}

interface Party {
  readonly underWay: number;
}

interface AccountTurn<P, C> {
  readonly account: P;
  readonly candidates: Set<C>;
  /** Lower: waits longer. */
  seniority: number;
  /** The one in the heap that is true; null: it waits no longer. */
  item: HeapItem<P, C> | null;
}

/** As it was when it was put into the heap: outdated ones are skipped. */
interface HeapItem<P, C> {
  readonly turn: AccountTurn<P, C>;
  readonly underWay: number;
  readonly seniority: number;
}

/** So many outdated items for each account at most, on average. */
const OUTDATED = 4;

/**
 * Whose turn it is. Of the waiting accounts, the one with the fewest attempts in progress: an account with many never keeps
 * one with few waiting. Among equals the one that has waited longest; among an account's own endpoints, each in turn.
 *
 * Hazard: a queue in which an account goes to the end when its attempts change would starve the new URL of an account
 * whose other URLs are busy all the time. So it keeps its seniority until it had its turn.
 */
export class Turns<P extends Party, C extends { readonly account: P }> {
  readonly #waiting = new Map<P, AccountTurn<P, C>>();
  readonly #heap = new Heap<HeapItem<P, C>>(order);
  #seniority = 0;

  /** To the end of its account's turns. */
  add(candidate: C): void {
    const { account } = candidate;
    const known = this.#waiting.get(account);
    if (known) return void known.candidates.add(candidate);
    const turn = { account, candidates: new Set<C>().add(candidate), seniority: ++this.#seniority, item: null };
    this.#waiting.set(account, turn);
    this.#push(turn);
  }

  delete(candidate: C): void {
    const turn = this.#waiting.get(candidate.account);
    if (!turn?.candidates.delete(candidate) || turn.candidates.size > 0) return;
    turn.item = null;
    this.#waiting.delete(candidate.account);
  }

  /** The candidate has had its turn, and its account with it: both go to the end, where they still wait. */
  hadTurn(candidate: C): void {
    const turn = this.#waiting.get(candidate.account);
    if (!turn) return;
    if (turn.candidates.delete(candidate)) turn.candidates.add(candidate);
    turn.seniority = ++this.#seniority;
    this.#push(turn);
  }

  moved(account: P): void {
    const turn = this.#waiting.get(account);
    if (turn) this.#push(turn);
  }

  /** The next candidate stays here until it is deleted. */
  get next(): C | undefined {
    for (let { first } = this.#heap; first; first = this.#heap.first) {
      if (first.turn.item === first) for (const candidate of first.turn.candidates) return candidate;
      this.#heap.removeFirst();
    }
    return undefined;
  }

  #push(turn: AccountTurn<P, C>): void {
    const { seniority, item } = turn;
    const { underWay } = turn.account;
    if (item?.underWay === underWay && item.seniority === seniority) return;
    turn.item = { turn, underWay, seniority };
    const isFullOfOutdated = this.#heap.size > OUTDATED * (this.#waiting.size + OUTDATED);
    if (isFullOfOutdated) this.#heap.fill([...this.#waiting.values()].flatMap((one) => one.item ?? []));
    else this.#heap.push(turn.item);
  }
}

function order(one: HeapItem<Party, unknown>, other: HeapItem<Party, unknown>): number {
  return one.underWay - other.underWay || one.seniority - other.seniority;
}

/** A binary heap: `first` is before all others. */
export class Heap<T> {
  /** Negative: the one is before the other. */
  readonly #order: (one: T, other: T) => number;
  #all: T[] = [];

  constructor(order: (one: T, other: T) => number) {
    this.#order = order;
  }

  get size(): number {
    return this.#all.length;
  }

  get first(): T | undefined {
    return this.#all[0];
  }

  push(one: T): void {
    let at = this.#all.push(one) - 1;
    for (let up = (at - 1) >> 1; at > 0 && this.#isBefore(at, up); up = (at - 1) >> 1) {
      this.#swap(at, up);
      at = up;
    }
  }

  removeFirst(): void {
    const all = this.#all;
    this.#swap(0, all.length - 1);
    all.pop();
    let at = 0;
    for (let down = 1; down < all.length; down = 2 * at + 1) {
      if (down + 1 < all.length && this.#isBefore(down + 1, down)) down += 1;
      if (!this.#isBefore(down, at)) return;
      this.#swap(at, down);
      at = down;
    }
  }

  /** These, and none else. Sorted, an array is a heap. */
  fill(all: T[]): void {
    this.#all = all.sort(this.#order);
  }

  #isBefore(one: number, other: number): boolean {
    return this.#order(this.#all[one] as T, this.#all[other] as T) < 0;
  }

  #swap(one: number, other: number): void {
    const all = this.#all;
    [all[one], all[other]] = [all[other] as T, all[one] as T];
  }
}
