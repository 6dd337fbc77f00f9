/** An endpoint as the gate has it while somebody waits for it or is inside, and its account. */
import type { EndpointBreakers, Passed } from './endpoint-breakers.js';
import type { EndpointKey } from './endpoint-key.js';
import type { EndpointPace } from './endpoint-pace.js';
import { MOST_OLD_PER_ACCOUNT, type Queue } from './places.js';

export interface Visitor {
  readonly endpoint: Endpoint;
  readonly bytes: number;
  readonly passed: Passed;
  readonly admit: (queue: Queue) => void;
  readonly refuse: (why: RefusedWhy) => void;
}

export type RefusedWhy = 'line-full' | 'open' | 'closed';

export class Account {
  readonly id: number;
  readonly endpoints = new Set<Endpoint>();
  underWay = 0;
  /** Of these, older than QUICK_MS. */
  old = 0;

  constructor(id: number) {
    this.id = id;
  }
}

export class Endpoint {
  readonly key: EndpointKey;
  readonly account: Account;
  readonly pace: EndpointPace;
  readonly breakers: EndpointBreakers;
  /** The first in line is the first that came. */
  readonly line: Visitor[] = [];
  bytes = 0;
  underWay = 0;
  old = 0;
  /** Where it waits for a place; null where it does not. */
  queue: Queue | null = null;
  /** Of two that wait in different queues, the lower one has waited longer. */
  turn = 0;

  constructor(key: EndpointKey, account: Account, pace: EndpointPace, breakers: EndpointBreakers) {
    this.key = key;
    this.account = account;
    this.pace = pace;
    this.breakers = breakers;
  }

  /** Where it should wait for a place. */
  get dueQueue(): Queue | null {
    const { line, pace, account } = this;
    if (line.length === 0 || !pace.mayStart(this.underWay, this.old)) return null;
    if (pace.trust === 'proven') return pace.isSwift ? 'swift' : 'proven';
    const isAtLimit = account.old >= MOST_OLD_PER_ACCOUNT;
    if (pace.trust === 'failing') return isAtLimit ? null : 'failing';
    return isAtLimit ? 'kept' : 'fresh';
  }

  push(visitor: Visitor): void {
    this.line.push(visitor);
    this.bytes += visitor.bytes;
  }

  shift(): Visitor | undefined {
    const visitor = this.line.shift();
    this.bytes -= visitor?.bytes ?? 0;
    return visitor;
  }

  /** Takes out of the line: from that place on, so many. */
  cut(from: number, count = Number.POSITIVE_INFINITY): Visitor[] {
    const visitors = this.line.splice(from, count);
    for (const { bytes } of visitors) this.bytes -= bytes;
    return visitors;
  }
}
