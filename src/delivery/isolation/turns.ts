/**
 * Whose turn it is. Of the waiting accounts, the one with the fewest attempts in progress: an account with many never keeps
 * one with few waiting. Among equals the one that has waited longest; among an account's own endpoints, each in turn.
 *
 * Hazard: a queue in which an account goes to the end when its attempts change would starve the new URL of an account
 * whose other URLs are busy all the time. So it keeps its seniority until it had its turn.
 */
import { Heap } from './heap.js';

export interface Party {
  readonly underWay: number;
}

/** An endpoint that may start another attempt. */
export interface Candidate<P extends Party> {
  readonly account: P;
}

interface AccountTurn<P, C> {
  readonly account: P;
  readonly candidates: Set<C>;
  /** Lower: waits longer. */
  readonly seniority: number;
}

interface HeapItem<P, C> {
  readonly waiting: AccountTurn<P, C>;
  /** As of when the item was made: one that is no longer true is skipped, for there is another. */
  readonly underWay: number;
}

/** So many outdated items for each account at most, on average. */
const OUTDATED = 4;

export class Turns<P extends Party, C extends Candidate<P>> {
  readonly #waiting = new Map<P, AccountTurn<P, C>>();
  readonly #heap = new Heap<HeapItem<P, C>>(order);
  #seniority = 0;

  /** To the end of its account's turns. */
  add(candidate: C): void {
    const { account } = candidate;
    const waiting = this.#waiting.get(account);
    if (waiting) return void waiting.candidates.add(candidate);
    this.#seniority += 1;
    const begun = { account, candidates: new Set([candidate]), seniority: this.#seniority };
    this.#waiting.set(account, begun);
    this.#push(begun);
  }

  delete(candidate: C): void {
    const waiting = this.#waiting.get(candidate.account);
    if (!waiting?.candidates.delete(candidate) || waiting.candidates.size > 0) return;
    this.#waiting.delete(candidate.account);
  }

  /** The candidate has had its turn, and its account with it: both go to the end. */
  hadTurn(candidate: C): void {
    const { account } = candidate;
    const waiting = this.#waiting.get(account);
    this.delete(candidate);
    if (!waiting || !this.#waiting.delete(account)) return;
    for (const other of waiting.candidates) this.add(other);
  }

  /** The account has more attempts in progress, or fewer. */
  moved(account: P): void {
    const waiting = this.#waiting.get(account);
    if (waiting) this.#push(waiting);
  }

  /** The next candidate stays here until it is deleted. */
  get next(): C | undefined {
    for (let { first } = this.#heap; first; first = this.#heap.first) {
      if (this.#isTrue(first)) return first.waiting.candidates.values().next().value;
      this.#heap.removeFirst();
    }
    return undefined;
  }

  #isTrue({ waiting, underWay }: HeapItem<P, C>): boolean {
    return this.#waiting.get(waiting.account) === waiting && waiting.account.underWay === underWay;
  }

  #push(waiting: AccountTurn<P, C>): void {
    const entryOf = (one: AccountTurn<P, C>) => ({ waiting: one, underWay: one.account.underWay });
    const isFullOfOutdated = this.#heap.size > OUTDATED * (this.#waiting.size + OUTDATED);
    if (isFullOfOutdated) this.#heap.fill([...this.#waiting.values()].map(entryOf));
    else this.#heap.push(entryOf(waiting));
  }
}

function order(one: HeapItem<Party, unknown>, other: HeapItem<Party, unknown>): number {
  return one.underWay - other.underWay || one.waiting.seniority - other.waiting.seniority;
}
