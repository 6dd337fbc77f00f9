/**
 * The gate before the endpoints, each an account's URL. An endpoint has a window, a bounded line of deliveries that wait,
 * and circuit breakers. A delivery is refused, and parked by the caller, where the line is full or the breaker opens.
 *
 *   comes -> in line -> in a place -> (older than QUICK_MS: still under way, the place is free) -> left
 *      \-> refused <-/            \-> (failed sooner: left, the place is held until then)
 *
 * Endpoints do not slow each other down: places.ts limits concurrent attempts, endpoint-queues.ts picks the next endpoint,
 * gate-endpoints.ts bounds each line.
 */
import { AgeQueue } from '../../time/deadlines.js';
import type { BreakerChange, EndpointSignal } from './circuit-breaker.js';
import { type Admission, type Endpoint, type RefusedWhy, refused, Visitor, type Waiting } from './endpoint.js';
import { QUICK_MS } from './endpoint-pace.js';
import { EndpointQueues } from './endpoint-queues.js';
import type { GateClock } from './gate-clock.js';
import { GateEndpoints, type GateEndpointsParts, type Load } from './gate-endpoints.js';
import { Places } from './places.js';

export interface GateParts extends GateEndpointsParts {
  /** Attempts in a place, of all endpoints together. */
  readonly total: number;
  readonly clock: GateClock;
}

const NOTHING: Waiting = { bytes: 0 };

export class EndpointGate {
  readonly #parts: GateParts;
  readonly #places: Places;
  readonly #queues = new EndpointQueues();
  readonly #endpoints: GateEndpoints;
  readonly #young: AgeQueue<Visitor>;
  readonly #patient: AgeQueue<Visitor>;
  /** Attempts under way, of all endpoints together. */
  #active = 0;
  #closed = false;

  constructor(parts: GateParts) {
    const { clock, total, withinMs } = parts;
    this.#parts = parts;
    this.#places = new Places(total);
    this.#endpoints = new GateEndpoints(parts);
    this.#young = new AgeQueue(clock, QUICK_MS, (visitor) => this.#aged(visitor));
    this.#patient = new AgeQueue(clock, withinMs, (visitor) => this.#waitedLong(visitor));
  }

  enter(accountId: number, url: string, waiting = NOTHING): Promise<Admission> {
    const endpoint = this.#endpoints.of(accountId, url);
    const earlier = this.#endpoints.earlierChain(endpoint, waiting);
    const hasRoom = earlier !== undefined || this.#endpoints.hasRoom(endpoint);
    const why = this.#closed ? 'closed' : hasRoom ? null : 'line-full';
    // Ask the breaker last: a pass may be its half-open probe, which must be sent.
    const passed = why ? null : (earlier?.passed ?? endpoint.breakers.ask());
    if (!passed) {
      this.#endpoints.mayForget(endpoint);
      return Promise.resolve(refused(endpoint, why ?? 'open'));
    }
    const visitor = new Visitor(this, endpoint, passed, waiting);
    this.#endpoints.lineUp(visitor, earlier);
    // Requests that come faster than the line moves would starve their delivery at its end.
    if (earlier) {
      this.#patient.delete(earlier);
      earlier.refuse('line-full');
    }
    this.#queues.place(endpoint);
    this.#admit();
    if (visitor.stage === 'in-line') this.#patient.add(visitor, this.#parts.clock.now());
    return visitor.admission;
  }

  /** In all lines together. */
  get waiting(): number {
    return this.#endpoints.waiting;
  }

  get waitingBytes(): number {
    return this.#endpoints.waitingBytes;
  }

  get lines(): number {
    return this.#endpoints.size;
  }

  waitingForUs(ms: number): Load {
    return this.#endpoints.waitingForUs(ms);
  }

  get state() {
    const { waiting, waitingBytes } = this;
    return { active: this.#active, waiting, waitingBytes, breakersOpen: this.#parts.breakers.open };
  }

  /** Refuses all that wait, and all that come. Attempts under way go on. */
  close(): void {
    this.#closed = true;
    for (const endpoint of this.#endpoints.all()) this.#refuse(endpoint, 'closed', 0);
    this.#young.close();
    this.#patient.close();
    this.#parts.clock.close();
  }

  #admit(): void {
    for (;;) {
      const next = this.#queues.next(this.#places, this.#endpoints.accounts);
      const queue = next?.queue;
      const visitor = next && this.#endpoints.first(next);
      if (!queue || !visitor) return;
      const now = this.#parts.clock.now();
      this.#patient.delete(visitor);
      this.#places.take(queue);
      this.#young.add(visitor, now);
      this.#count(next, 1);
      this.#queues.toTheEnd(next);
      visitor.enter(queue, now);
    }
  }

  #count(endpoint: Endpoint, more: 1 | -1): void {
    this.#active += more;
    endpoint.underWay += more;
    endpoint.account.underWay += more;
  }

  /** A second has passed since it began. */
  #aged(visitor: Visitor): void {
    if (!visitor.coolsDown) this.#growOld(visitor);
    else if (visitor.stage === 'left') this.#places.leave(visitor.queue, false);
    visitor.coolsDown = false;
    this.#admit();
  }

  #growOld(visitor: Visitor): void {
    const { endpoint, queue, beganAt } = visitor;
    const isOnTheWire = visitor.stage === 'on-the-wire';
    visitor.isOld = true;
    this.#places.growOld(queue);
    this.#countOld(endpoint, 1);
    if (isOnTheWire) endpoint.pace.grewOld(beganAt);
    if (isOnTheWire) this.#refuse(endpoint, 'line-full', this.#endpoints.roomOf(endpoint));
    else this.#queues.place(endpoint);
  }

  /** Reaching the account's limit moves all endpoints of the account to other queues. */
  #countOld(endpoint: Endpoint, more: 1 | -1): void {
    endpoint.old += more;
    endpoint.account.old += more;
    for (const each of endpoint.account.endpoints.values()) this.#queues.place(each);
  }

  /** Of the visitor's attempt. */
  ended(visitor: Visitor, signal: EndpointSignal): BreakerChange {
    const { endpoint, beganAt } = visitor;
    const change = endpoint.breakers.ended(visitor.passed, signal);
    const now = this.#parts.clock.now();
    const hasFailed = signal !== 'succeeded' && signal !== 'unknown';
    visitor.stage = 'ended';
    visitor.coolsDown = hasFailed && !visitor.isOld && this.#places.coolsDown(visitor.queue);
    // Hazard: a 410 leads to a command, which queues behind the account's other commands.
    if (signal !== 'unknown' && !visitor.coolsDown) this.#young.delete(visitor);
    if (signal === 'succeeded') endpoint.pace.succeeded(now - beganAt, now);
    else if (hasFailed) endpoint.pace.failed(now - beganAt, beganAt);
    // An endpoint of which some deliveries fail keeps its line.
    if (hasFailed && !endpoint.pace.isTaking) this.#refuse(endpoint, 'line-full', this.#endpoints.roomOf(endpoint));
    if (change === 'opened') {
      for (const each of endpoint.account.endpoints.values()) {
        if (each.breakers.openForMs > 0) this.#refuse(each, 'open', 0);
      }
    }
    this.#queues.place(endpoint);
    this.#admit();
    return change;
  }

  leave(visitor: Visitor): void {
    const { endpoint, queue, isOld } = visitor;
    visitor.stage = 'left';
    if (!visitor.coolsDown) {
      this.#young.delete(visitor);
      this.#places.leave(queue, isOld);
    }
    this.#count(endpoint, -1);
    this.#queues.moved(endpoint.account);
    if (isOld) this.#countOld(endpoint, -1);
    this.#queues.place(endpoint);
    this.#endpoints.mayForget(endpoint);
    this.#admit();
  }

  /** If the endpoint still takes deliveries, it keeps waiting. */
  #waitedLong(visitor: Visitor): void {
    const { endpoint } = visitor;
    if (!endpoint.pace.isTaking) this.#refuse(endpoint, 'line-full', endpoint.line.indexOf(visitor), 1);
  }

  /** Refuses those in line from that place on. */
  #refuse(endpoint: Endpoint, why: RefusedWhy, from: number, count?: number): void {
    for (const visitor of this.#endpoints.cut(endpoint, from, count)) {
      this.#patient.delete(visitor);
      // If a refused delivery was the breaker's probe, the next one probes.
      endpoint.breakers.ended(visitor.passed, 'unknown');
      visitor.refuse(why);
    }
    this.#queues.place(endpoint);
    this.#endpoints.mayForget(endpoint);
  }
}
