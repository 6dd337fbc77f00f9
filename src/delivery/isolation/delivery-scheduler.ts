/**
 * Which delivery may have an attempt in flight now. An endpoint, an account's URL, has a window, a bounded queue and circuit
 * breakers. The caller defers a delivery where the queue is full or moves too slowly, or a breaker is open.
 *
 *   comes -> queued -> in a slot -> (older than HOLD_MS: slow, still in flight) -> ended -> left (its result is durable)
 *      \-> deferred <-/         \-> (untried or failing, and failed: ended, the slot is held until then)
 *
 * slot-pools.ts and slots.ts limit what begins and pick the next endpoint, cpu-meter.ts measures what attempts cost this process,
 * endpoint-pace.ts what an endpoint takes, endpoints.ts bounds each queue.
 */
import { AgeQueue } from '../../time/deadlines.js';
import type { ProcessClock } from '../../time/process-clock.js';
import type { BreakerChange, CircuitBreakers } from './circuit-breaker.js';
import { CpuMeter } from './cpu-meter.js';
import type { Account, AttemptEnd, Deferred, Endpoint, Queueing } from './endpoint.js';
import { QueuedDelivery } from './endpoint.js';
import { SOON_MS, withoutDelay } from './endpoint-pace.js';
import { type EndpointLimits, Endpoints } from './endpoints.js';
import { SlotPools } from './slot-pools.js';
import { HOLD_MS, type SlotPool } from './slots.js';
import { Standstills } from './standstills.js';

export interface SchedulerParts extends EndpointLimits {
  /** Attempts in their first HOLD_MS, of all endpoints together. */
  readonly slots: number;
  readonly breakers: Pick<CircuitBreakers, 'ask' | 'ended' | 'openForMs' | 'open'>;
  readonly clock: ProcessClock;
  /** ms for which the thread was busy so far. */
  readonly busyMs: () => number;
  /** Idle connections to the URL: so many attempts at once need no handshake. */
  readonly idleTo: (url: string) => number;
}

/** For each slot so many slow attempts may be in flight. An account may have half of those left (FEW if untried or failing), and FEW while any are. */
const SLOW_PER_SLOT = 4;
const FEW = 8;

export class DeliveryScheduler {
  readonly #parts: SchedulerParts;
  readonly #pools: SlotPools;
  readonly endpoints: Endpoints;
  readonly #meter = new CpuMeter();
  readonly #standstills = new Standstills();
  readonly #inSlots: AgeQueue<QueuedDelivery>;
  /** Those that are queued: each is looked at again after SOON_MS. */
  readonly #queued: AgeQueue<QueuedDelivery>;
  /** Attempts in flight, and those of them that are older than HOLD_MS. */
  #active = 0;
  #slow = 0;
  #closed = false;

  constructor(parts: SchedulerParts) {
    const { clock, slots, idleTo } = parts;
    this.#parts = parts;
    this.endpoints = new Endpoints(parts);
    const mayBegin = (account: Account, pool: SlotPool) => this.#mayBegin(account, pool);
    this.#pools = new SlotPools({ slots, meter: this.#meter, idleTo, mayBegin });
    this.#inSlots = new AgeQueue(clock, HOLD_MS, (queued) => this.#outlived(queued));
    this.#queued = new AgeQueue(clock, SOON_MS, (queued) => this.#waited(queued));
  }

  acquire(accountId: number, url: string, queueing: Queueing = { bytes: 0 }): QueuedDelivery['acquisition'] {
    this.#meter.charge(this.#parts.busyMs());
    const now = this.#parts.clock.now();
    const endpoint = this.endpoints.of(accountId, url);
    const earlier = this.endpoints.earlierChain(endpoint, queueing);
    const queued = new QueuedDelivery(this, endpoint, queueing, now);
    const hasRoom = earlier !== undefined || this.endpoints.hasRoom(queued, now);
    // Ask the breaker last: a pass may be its probe, which must be sent.
    const mayQueue = !this.#closed && hasRoom && (earlier !== undefined || this.#parts.breakers.ask(endpoint.key));
    if (!mayQueue) {
      this.endpoints.mayForget(endpoint);
      const why = this.#closed ? 'stopping' : hasRoom ? 'endpoint-failing' : 'queue';
      return Promise.resolve(this.#deferred(endpoint, why, queueing));
    }
    this.endpoints.enqueue(queued, earlier);
    // Requests that come faster than the queue moves would starve their delivery at its end.
    if (earlier) this.#defer(earlier, 'queue');
    this.#changed(endpoint);
    this.#admit();
    queued.hasWaited = queued.stage === 'queued';
    if (queued.hasWaited) this.#queued.add(queued, now);
    return queued.acquisition;
  }

  /** A connection was made for an attempt. */
  connected(accountId: number, url: string): void {
    const cost = this.endpoints.costOf(accountId, url);
    this.#meter.charge(this.#parts.busyMs(), cost);
  }

  /** A connection to the endpoint has ended: the next attempt makes another. */
  disconnected(accountId: number, url: string): void {
    const cost = this.endpoints.costOf(accountId, url);
    if (cost) cost.reconnects += 1;
  }

  /** A connection to the endpoint is idle: what waits for it may begin without a handshake. */
  freed(accountId: number, url: string): void {
    const endpoint = this.endpoints.known(accountId, url);
    if (!endpoint) return;
    const { account, pace } = endpoint;
    const isFirst = !account.isVouched && pace.isCheap;
    account.isVouched ||= pace.isCheap;
    if (!isFirst && !endpoint.wantsSlot) return;
    for (const each of isFirst ? account.endpoints.values() : [endpoint]) this.#changed(each);
    this.#admit();
  }

  /** Whether attempts of endpoints that are healthy or untried wait for this process. */
  get slotsAreShort(): boolean {
    return this.#pools.areShort;
  }

  get state() {
    const { waiting, waitingBytes } = this.endpoints;
    return { active: this.#active, waiting, waitingBytes, breakersOpen: this.#parts.breakers.open };
  }

  /** Defers all that is queued, and all that comes. Attempts in flight go on. */
  close(): void {
    this.#closed = true;
    for (const endpoint of [...this.endpoints.all()]) {
      this.#deferFrom(endpoint, 0, 'stopping');
      endpoint.stopTimer?.();
    }
    this.#inSlots.close();
    this.#queued.close();
    this.#parts.clock.close();
  }

  #admit(): void {
    while (this.#pools.all.some((pool) => this.#next(pool)));
  }

  /** Begins an attempt if one may. */
  #next(pool: SlotPool): boolean {
    if (!pool.canGive) return false;
    const now = this.#parts.clock.now();
    const endpoint = pool.next(now, (account) => this.#mayBegin(account, pool));
    if (!endpoint) return false;
    const [queued] = this.endpoints.cut(endpoint, 0, 1);
    if (!queued) return false;
    const { pace } = endpoint;
    const costMs = this.#meter.expected(pace.cost, this.#pools.isConnected(endpoint, now));
    this.#standstills.look(this.#inSlots.dueAt, now);
    this.#queued.delete(queued);
    pool.take(endpoint, costMs);
    this.#inSlots.add(queued, now);
    pace.began(now);
    endpoint.began(now);
    this.#count(queued, 1);
    const { account } = endpoint;
    queued.isUnproven = this.#pools.isUnproven(pool);
    if (queued.isUnproven) account.unproven += 1;
    const changed = account.triedAt === null ? account.endpoints.values() : [endpoint];
    account.triedAt ??= now;
    for (const each of changed) this.#changed(each);
    queued.begin(pool, costMs, now);
    queued.beganBusyMs = this.#parts.busyMs();
    queued.beganStillMs = this.#standstills.ms;
    return true;
  }

  #mayBegin({ slow }: Account, pool: SlotPool): boolean {
    const left = SLOW_PER_SLOT * this.#parts.slots - this.#slow;
    const most = this.#pools.isUnproven(pool) ? FEW : Math.max(FEW, left / 2);
    return slow < (left > 0 ? most : 1);
  }

  #count({ endpoint }: QueuedDelivery, more: 1 | -1): void {
    this.#active += more;
    endpoint.inFlight += more;
    endpoint.account.inFlight += more;
  }

  /** Of its attempt. */
  ended(queued: QueuedDelivery, { signal, retryAfterMs = 0 }: AttemptEnd): BreakerChange {
    const { endpoint, beganAt, pool } = queued;
    const { pace, account } = endpoint;
    const now = this.#parts.clock.now();
    queued.stage = 'ended';
    this.#count(queued, -1);
    this.#countSlow(queued, -1);
    endpoint.unrecorded += 1;
    account.used(this.#meter.ended(this.#parts.busyMs(), pace.cost), now);
    const tookMs = this.#tookMs(queued, now);
    if (signal === 'succeeded') pace.succeeded(tookMs, now, this.#parts.perEndpoint);
    else if (signal === 'refused') pace.refused(retryAfterMs, beganAt, now);
    else if (signal !== 'unknown') pace.failed(tookMs, now);
    const awayMs = Math.max(now - (pace.failingSince ?? now), queued.queueing.awayMs ?? 0);
    const change = this.#parts.breakers.ended(endpoint.key, signal, awayMs);
    if (signal === 'succeeded' || !this.#pools.isUnproven(pool)) this.#free(queued);
    this.#prove(queued);
    if (change === 'opened') {
      for (const each of account.endpoints.values()) {
        if (this.#parts.breakers.openForMs(each.key) > 0) this.#deferFrom(each, 0, 'endpoint-failing');
      }
    }
    this.#changed(endpoint);
    this.#admit();
    return change;
  }

  /** How long its endpoint took. */
  #tookMs({ endpoint, beganAt, beganBusyMs, beganStillMs }: QueuedDelivery, now: number): number {
    this.#standstills.look(this.#inSlots.dueAt, now);
    const tookMs = now - beganAt - (this.#standstills.ms - beganStillMs);
    // Expensive endpoints are themselves what delays others.
    return endpoint.pace.cost.isDear ? tookMs : withoutDelay(tookMs, this.#parts.busyMs() - beganBusyMs);
  }

  left(queued: QueuedDelivery): void {
    const { endpoint } = queued;
    queued.stage = 'left';
    endpoint.unrecorded -= 1;
    this.#changed(endpoint);
    this.endpoints.mayForget(endpoint);
    this.#admit();
  }

  /** It has held its slot for HOLD_MS. */
  #outlived(queued: QueuedDelivery): void {
    const now = this.#parts.clock.now();
    this.#standstills.look(queued.beganAt + HOLD_MS, now);
    this.#pools.held(queued.beganAt, now);
    this.#free(queued);
    this.#prove(queued);
    queued.isSlow = queued.stage === 'in-flight';
    this.#countSlow(queued, 1);
    this.#admit();
  }

  /** It counts as unproven until it has ended, and its slot is free. */
  #prove(queued: QueuedDelivery): void {
    if (!queued.isUnproven || queued.stage === 'in-flight' || queued.pool !== null) return;
    queued.isUnproven = false;
    queued.endpoint.account.unproven -= 1;
  }

  #countSlow({ isSlow, endpoint }: QueuedDelivery, more: 1 | -1): void {
    if (!isSlow) return;
    this.#slow += more;
    endpoint.account.slow += more;
  }

  #free(queued: QueuedDelivery): void {
    queued.pool?.free(queued.costMs);
    queued.pool = null;
  }

  /** Puts the endpoint where it waits for a slot, if it does. */
  #changed(endpoint: Endpoint): void {
    const own = this.#pools.poolOf(endpoint, this.#parts.clock.now());
    const isReady = endpoint.wantsSlot && this.#isOpen(endpoint);
    for (const pool of this.#pools.all) if (pool !== own || !isReady) pool.delete(endpoint);
    if (isReady) own.add(endpoint);
  }

  /** Whether its rate and its pause let an attempt begin. If not, it is looked at again once they do. */
  #isOpen(endpoint: Endpoint): boolean {
    const { opensAt } = endpoint.pace;
    if (opensAt === 0 || opensAt <= this.#parts.clock.now()) return true;
    endpoint.stopTimer ??= this.#parts.clock.after(opensAt - this.#parts.clock.now(), () => {
      endpoint.stopTimer = null;
      this.#changed(endpoint);
      this.#admit();
    });
    return false;
  }

  #waited(queued: QueuedDelivery): void {
    const { endpoint } = queued;
    const now = this.#parts.clock.now();
    if (queued.needsFirstAttempt(now)) this.endpoints.putFirst(queued);
    if (this.endpoints.hasTooMany(endpoint, now)) this.#deferFrom(endpoint, endpoint.queue.length - 1, 'queue');
    const position = endpoint.queue.indexOf(queued);
    // It was the last one.
    if (position === -1) return;
    if (this.#mayWait(queued, position) || this.#waitsForUs(endpoint)) this.#queued.add(queued, now);
    else this.#deferFrom(endpoint, position, 'queue', 1);
  }

  #mayWait(queued: QueuedDelivery, position: number): boolean {
    const { endpoint, cameAt } = queued;
    const { pace } = endpoint;
    const now = this.#parts.clock.now();
    if (queued.isOver(now)) return queued.needsFirstAttempt(now) && !pace.isFailing && !pace.asks;
    if (now - cameAt < pace.patienceMs(now)) return true;
    return pace.isPaced(now) && !pace.asks && position < pace.takesWithin(SOON_MS, now);
  }

  /** It would take more than this process sends. */
  #waitsForUs(endpoint: Endpoint): boolean {
    const { pace, account } = endpoint;
    const now = this.#parts.clock.now();
    if (!pace.isUntried && !pace.isCheap) return false;
    return endpoint.wantsSlot && pace.opensAt <= now && this.#mayBegin(account, this.#pools.poolOf(endpoint, now));
  }

  /** Those in the queue from that one on. */
  #deferFrom(endpoint: Endpoint, from: number, why: Deferred['why'], count?: number): void {
    for (const queued of this.endpoints.cut(endpoint, from, count)) {
      // If it was the breaker's probe, the next one is.
      this.#parts.breakers.ended(endpoint.key, 'unknown');
      this.#defer(queued, why);
    }
    this.#changed(endpoint);
    this.endpoints.mayForget(endpoint);
  }

  #defer(queued: QueuedDelivery, why: Deferred['why']): void {
    this.#queued.delete(queued);
    queued.tell(this.#deferred(queued.endpoint, why, queued.queueing));
  }

  #deferred({ pace, queue }: Endpoint, why: Deferred['why'], { isUrgent, hadTurn }: Queueing): Deferred {
    const now = this.#parts.clock.now();
    const deferred = { kind: 'deferred', why, pausedMs: 0, turnMs: 0 } as const;
    if (why !== 'queue') return deferred;
    const pausedMs = Math.max(0, pace.pausedUntil - now);
    if (pausedMs > 0 || pace.asks) return { ...deferred, why: 'endpoint-paused', pausedMs };
    if (pace.isFailing) return { ...deferred, why: 'endpoint-failing' };
    // It goes before those that have turns.
    if (isUrgent) return deferred;
    return { ...deferred, turnMs: pace.bookTurn(queue.length, now, this.#parts.perEndpoint, hadTurn) };
  }
}
