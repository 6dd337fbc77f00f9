/** What is in the gate: deliveries, each in line or in a slot, their endpoints, and the endpoints' accounts. */
import type { BreakerChange, EndpointBreakers, EndpointSignal, Passed } from './circuit-breaker.js';
import type { EndpointPace } from './endpoint-pace.js';
import { MOST_OLD_PER_ACCOUNT, type Queue } from './places.js';

/** A delivery that waits for its attempt. */
export interface Waiting {
  /** What it holds in memory. */
  readonly bytes: number;
  /** In a line a delivery stands once: a later chain takes the place of an earlier one. Absent: of no delivery. */
  readonly delivery?: string;
  readonly chain?: number;
}

export type Admission = Entered | Refused;

export type Entered = Pick<Visitor, 'kind' | 'ended' | 'leave'>;

export type RefusedWhy = 'line-full' | 'open' | 'closed';

/** Not admitted: park the delivery. */
export interface Refused {
  readonly kind: 'refused';
  readonly why: RefusedWhy;
  /** The endpoint takes deliveries, or was never tried: only the line is full. */
  readonly isTaking: boolean;
}

export function refused({ pace, underWay }: Endpoint, why: RefusedWhy): Refused {
  const isUntried = why === 'line-full' && pace.trust === 'new' && underWay === 0;
  return { kind: 'refused', why, isTaking: pace.isTaking || isUntried };
}

/** Each is called once for a visitor. */
interface Gate {
  ended(visitor: Visitor, signal: EndpointSignal): BreakerChange;
  leave(visitor: Visitor): void;
}

/** One object from line to end, without closures: as several, with spread parts, they took 2 us and 1.5 KB of each delivery. */
export class Visitor {
  readonly kind = 'entered';
  readonly endpoint: Endpoint;
  readonly passed: Passed;
  readonly waiting: Waiting;
  readonly admission: Promise<Admission>;
  stage: 'in-line' | 'on-the-wire' | 'ended' | 'left' = 'in-line';
  /** The class of its place, and when it got it. They say nothing in line. */
  queue: Queue = 'fresh';
  beganAt = 0;
  /** It has outlived its place. */
  isOld = false;
  /** Its place is held until a second has passed since it began. */
  coolsDown = false;
  readonly #gate: Gate;
  #tell!: (admission: Admission) => void;
  #change: BreakerChange = null;

  constructor(gate: Gate, endpoint: Endpoint, passed: Passed, waiting: Waiting) {
    this.#gate = gate;
    this.endpoint = endpoint;
    this.passed = passed;
    this.waiting = waiting;
    this.admission = new Promise((tell) => {
      this.#tell = tell;
    });
  }

  enter(queue: Queue, now: number): void {
    this.stage = 'on-the-wire';
    this.queue = queue;
    this.beganAt = now;
    this.#tell(this);
  }

  refuse(why: RefusedWhy): void {
    this.#tell(refused(this.endpoint, why));
  }

  /** Call when the attempt has ended. After `unknown`, its place is still free one second after it began. Idempotent. */
  ended(signal: EndpointSignal): BreakerChange {
    if (this.stage === 'on-the-wire') this.#change = this.#gate.ended(this, signal);
    return this.#change;
  }

  /** Call once the attempt's consequence is durable: frees the place. Idempotent. */
  leave(): void {
    this.ended('unknown');
    if (this.stage === 'ended') this.#gate.leave(this);
  }
}

export class Account {
  readonly id: number;
  /** By URL. */
  readonly endpoints = new Map<string, Endpoint>();
  underWay = 0;
  /** Of these, older than QUICK_MS. */
  old = 0;

  constructor(id: number) {
    this.id = id;
  }
}

export class Endpoint {
  readonly url: string;
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

  constructor(url: string, account: Account, pace: EndpointPace, breakers: EndpointBreakers) {
    this.url = url;
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
}
