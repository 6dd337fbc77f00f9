/**
 * The gate before the endpoints, each an account's URL. An endpoint has a window, a bounded line of deliveries that wait,
 * and circuit breakers. A delivery for which the line has no room is refused, and so is a whole line where the breaker
 * opens: the caller parks them.
 *
 *   comes -> in line -> in a place -> (older than QUICK_MS: still under way, the place is free) -> left
 *      \-> refused <-/            \-> (failed sooner: left, the place is held until then)
 *
 * No endpoint is felt by another: places.ts says who may take a place, endpoint-queues.ts whose
 * turn it is, line-room.ts how many may wait.
 */
import { AgeQueue } from './age-queue.js';
import type { BreakerChange } from './circuit-breaker.js';
import type { EndpointSignal } from './endpoint-breakers.js';
import { QUICK_MS } from './endpoint-pace.js';
import { EndpointQueues } from './endpoint-queues.js';
import type { GateClock } from './gate-clock.js';
import type { Account, Endpoint, RefusedWhy, Visitor } from './gate-endpoint.js';
import { GateEndpoints, type GateEndpointsParts } from './gate-endpoints.js';
import { hasRoom, roomOf } from './line-room.js';
import { Places, type Queue } from './places.js';

export type Admission = Entered | Refused;

export interface Entered {
  readonly kind: 'entered';
  /** The attempt has ended. Pass what it says of its endpoint; unknown: its place is its own for its first second only. Idempotent. */
  readonly ended: (signal: EndpointSignal) => BreakerChange;
  /** What follows from it is durable: frees the place. Idempotent. */
  readonly leave: () => void;
}

/** Go elsewhere, at once. */
export interface Refused {
  readonly kind: 'refused';
  readonly why: RefusedWhy;
  /** The endpoint takes deliveries, or was never tried: only the line is full. */
  readonly isTaking: boolean;
}

export interface GateParts extends GateEndpointsParts {
  /** Attempts in a place, of all endpoints together. */
  readonly total: number;
  /** A line that would take longer has no room: the delay of the first tier, ms. */
  readonly withinMs: number;
  readonly clock: GateClock;
}

export interface GateState {
  /** Attempts under way, of all endpoints together. */
  readonly active: number;
  readonly waiting: number;
  readonly waitingBytes: number;
  readonly breakersOpen: number;
}

interface Attempt {
  readonly endpoint: Endpoint;
  readonly queue: Queue;
  readonly beganAt: number;
  /** It has outlived its place. */
  isOld: boolean;
  isOnTheWire: boolean;
  /** Its place is held until a second has passed since it began. */
  coolsDown: boolean;
  hasLeft: boolean;
}

export class EndpointGate {
  readonly #parts: GateParts;
  readonly #places: Places;
  readonly #queues = new EndpointQueues();
  readonly #endpoints: GateEndpoints;
  readonly #young: AgeQueue<Attempt>;
  readonly #patient: AgeQueue<Visitor>;
  #active = 0;
  #waiting = 0;
  #waitingBytes = 0;
  #closed = false;

  constructor(parts: GateParts) {
    const { clock, total, withinMs } = parts;
    this.#parts = parts;
    this.#places = new Places(total);
    this.#endpoints = new GateEndpoints(parts);
    this.#young = new AgeQueue({ clock, ageMs: QUICK_MS, reached: (attempt) => this.#aged(attempt) });
    this.#patient = new AgeQueue({ clock, ageMs: withinMs, reached: (visitor) => this.#waitedLong(visitor) });
  }

  /** @param bytes what is held in memory while it waits */
  enter(accountId: number, url: string, bytes = 0): Promise<Admission> {
    const endpoint = this.#endpoints.of(accountId, url);
    const why = this.#closed ? 'closed' : hasRoom(endpoint, this, this.#parts.withinMs) ? null : 'line-full';
    // Asked last: who passes may be the breaker's probe, and has to enter.
    const passed = why ? null : endpoint.breakers.ask();
    if (!passed) {
      this.#endpoints.mayForget(endpoint);
      return Promise.resolve(refused(endpoint, why ?? 'open'));
    }
    return new Promise((resolve) => {
      const visitor: Visitor = {
        ...{ endpoint, bytes, passed },
        admit: (queue) => resolve(this.#entered(visitor, queue)),
        refuse: (why) => resolve(refused(endpoint, why)),
      };
      this.#lineUp(visitor);
    });
  }

  /** In all lines together. */
  get waiting(): number {
    return this.#waiting;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get lines(): number {
    return this.#endpoints.size;
  }

  /** Of those, who does not wait for its endpoint but for this process: quick endpoints would take them within so long. */
  waitingForUs(ms: number): { readonly waiting: number; readonly waitingBytes: number } {
    let [waiting, waitingBytes] = [0, 0];
    for (const { line, bytes, pace } of this.#endpoints.all()) {
      const taken = pace.isQuick ? Math.min(line.length, pace.takesWithin(ms)) : 0;
      waiting += taken;
      waitingBytes += line.length > 0 ? (bytes * taken) / line.length : 0;
    }
    return { waiting, waitingBytes };
  }

  get state(): GateState {
    const { waiting, waitingBytes } = this;
    return { active: this.#active, waiting, waitingBytes, breakersOpen: this.#parts.breakers?.open ?? 0 };
  }

  /** Refuses all that wait, and all that come. Attempts under way go on. */
  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints.all()) this.#refuseAll(endpoint, endpoint.cut(0), 'closed');
    this.#young.close();
    this.#patient.close();
    this.#parts.clock.close();
  }

  #lineUp(visitor: Visitor): void {
    visitor.endpoint.push(visitor);
    this.#waiting += 1;
    this.#waitingBytes += visitor.bytes;
    this.#patient.add(visitor, this.#parts.clock.now());
    this.#queues.place(visitor.endpoint);
    this.#admit();
  }

  #admit(): void {
    for (;;) {
      const next = this.#queues.next(this.#places, this.#endpoints.accounts);
      const queue = next?.queue;
      const visitor = next?.shift();
      if (!queue || !visitor) return;
      this.#out(visitor);
      visitor.admit(queue);
    }
  }

  #out(visitor: Visitor): void {
    this.#patient.delete(visitor);
    this.#waiting -= 1;
    this.#waitingBytes -= visitor.bytes;
  }

  #entered({ endpoint, passed }: Visitor, queue: Queue): Entered {
    const attempt = this.#begin(endpoint, queue);
    let change: BreakerChange = null;
    return {
      kind: 'entered',
      ended: (signal) => {
        if (attempt.isOnTheWire) change = this.#ended(attempt, signal, endpoint.breakers.ended(passed, signal));
        return change;
      },
      leave: () => {
        if (attempt.isOnTheWire) this.#ended(attempt, 'unknown', endpoint.breakers.ended(passed, 'unknown'));
        if (!attempt.hasLeft) this.#leave(attempt);
      },
    };
  }

  #begin(endpoint: Endpoint, queue: Queue): Attempt {
    const beganAt = this.#parts.clock.now();
    const begun = { isOld: false, isOnTheWire: true, coolsDown: false, hasLeft: false };
    const attempt: Attempt = { endpoint, queue, beganAt, ...begun };
    this.#places.take(queue);
    this.#young.add(attempt, beganAt);
    this.#count(attempt, 1);
    this.#queues.toTheEnd(endpoint);
    return attempt;
  }

  #count({ endpoint }: Attempt, more: 1 | -1): void {
    const { account } = endpoint;
    this.#active += more;
    endpoint.underWay += more;
    account.underWay += more;
    this.#queues.moved(account);
  }

  /** A second has passed since it began. */
  #aged(attempt: Attempt): void {
    if (!attempt.coolsDown) this.#growOld(attempt);
    else if (attempt.hasLeft) this.#places.leave(attempt.queue, false);
    attempt.coolsDown = false;
    this.#admit();
  }

  #growOld(attempt: Attempt): void {
    const { endpoint, queue, beganAt, isOnTheWire } = attempt;
    attempt.isOld = true;
    this.#places.growOld(queue);
    this.#countOld(endpoint, 1);
    if (isOnTheWire) endpoint.pace.grewOld(beganAt);
    if (isOnTheWire) this.#cutToRoom(endpoint);
    else this.#queues.place(endpoint);
  }

  /** At the limit of its account, all of its endpoints are concerned. */
  #countOld(endpoint: Endpoint, more: 1 | -1): void {
    endpoint.old += more;
    endpoint.account.old += more;
    for (const each of endpoint.account.endpoints) this.#queues.place(each);
  }

  #ended(attempt: Attempt, signal: EndpointSignal, change: BreakerChange): BreakerChange {
    const { endpoint, beganAt } = attempt;
    const now = this.#parts.clock.now();
    const hasFailed = signal !== 'succeeded' && signal !== 'unknown';
    attempt.isOnTheWire = false;
    attempt.coolsDown = hasFailed && !attempt.isOld && this.#places.coolsDown(attempt.queue);
    // Hazard: what follows from a 410 is a command, which waits for all the others of its account.
    if (signal !== 'unknown' && !attempt.coolsDown) this.#young.delete(attempt);
    if (signal === 'succeeded') endpoint.pace.succeeded(now - beganAt, now);
    else if (hasFailed) this.#failed(endpoint, now - beganAt, beganAt);
    if (change === 'opened') this.#refuseOpen(endpoint.account);
    this.#queues.place(endpoint);
    this.#admit();
    return change;
  }

  /** An endpoint of which some deliveries fail keeps its line. */
  #failed(endpoint: Endpoint, durationMs: number, beganAt: number): void {
    endpoint.pace.failed(durationMs, beganAt);
    if (!endpoint.pace.isTaking) this.#cutToRoom(endpoint);
  }

  #leave(attempt: Attempt): void {
    const { endpoint, queue, isOld } = attempt;
    attempt.hasLeft = true;
    if (!attempt.coolsDown) {
      this.#young.delete(attempt);
      this.#places.leave(queue, isOld);
    }
    this.#count(attempt, -1);
    if (isOld) this.#countOld(endpoint, -1);
    this.#queues.place(endpoint);
    this.#endpoints.mayForget(endpoint);
    this.#admit();
  }

  /** At an endpoint that takes deliveries its turn comes. */
  #waitedLong(visitor: Visitor): void {
    const { endpoint } = visitor;
    if (!endpoint.pace.isTaking)
      this.#refuseAll(endpoint, endpoint.cut(endpoint.line.indexOf(visitor), 1), 'line-full');
  }

  #cutToRoom(endpoint: Endpoint): void {
    this.#refuseAll(endpoint, endpoint.cut(roomOf(endpoint, this, this.#parts.withinMs)), 'line-full');
  }

  /** The breaker of a URL or of its host has opened. */
  #refuseOpen({ endpoints }: Account): void {
    for (const endpoint of endpoints)
      if (endpoint.breakers.openForMs > 0) this.#refuseAll(endpoint, endpoint.cut(0), 'open');
  }

  #refuseAll(endpoint: Endpoint, visitors: readonly Visitor[], why: RefusedWhy): void {
    for (const visitor of visitors) this.#refuse(visitor, why);
    this.#queues.place(endpoint);
    this.#endpoints.mayForget(endpoint);
  }

  #refuse(visitor: Visitor, why: RefusedWhy): void {
    this.#out(visitor);
    // A probe that is refused leaves the next that asks to be it.
    visitor.endpoint.breakers.ended(visitor.passed, 'unknown');
    visitor.refuse(why);
  }
}

/** One that was never tried has waited for us: nothing says that it takes none. */
function refused({ pace, underWay }: Endpoint, why: RefusedWhy): Refused {
  const isUntried = why === 'line-full' && pace.trust === 'new' && underWay === 0;
  return { kind: 'refused', why, isTaking: pace.isTaking || isUntried };
}
