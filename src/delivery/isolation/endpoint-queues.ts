/** The queues of endpoints that may start another attempt, by their class (places.ts), and the endpoint whose turn it is. */
import type { Account, Endpoint } from './gate-endpoint.js';
import { type Places, QUEUES } from './places.js';
import { Turns } from './turns.js';

export class EndpointQueues {
  readonly #turns = { swift: turns(), proven: turns(), fresh: turns(), kept: turns(), failing: turns() };
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

  /** It has had its turn: to the end, if it may start another attempt. */
  toTheEnd(endpoint: Endpoint): void {
    if (endpoint.queue) this.#turns[endpoint.queue].hadTurn(endpoint);
    endpoint.queue = null;
    this.place(endpoint);
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

function turns(): Turns<Account, Endpoint> {
  return new Turns();
}
