/** Deliveries in the scheduler, each queued or in flight, their endpoints, and the endpoints' accounts. */
import type { EndpointKey } from '../endpoint-key.js';
import type { BreakerChange, EndpointSignal } from './circuit-breaker.js';
import type { EndpointPace } from './endpoint-pace.js';

/** A delivery that wants a slot. */
export interface Queueing {
  /** What it holds in memory. */
  readonly bytes: number;
  /** In a queue a delivery stands once: a later chain takes the place of an earlier one. Absent: of no delivery. */
  readonly delivery?: string;
  readonly chain?: number;
  /** Before all of its endpoint that are not. */
  readonly isUrgent?: boolean;
  /** It waited elsewhere for its turn. */
  readonly hadTurn?: boolean;
  /** For how long its endpoint took nothing, ms, as far as the delivery knows. */
  readonly awayMs?: number;
  /** After how long its lifetime ends, ms. Then it waits no longer in the queue, unless it has had no attempt: see `goesFirst`. */
  readonly leftMs?: number;
  readonly hasHadAttempt?: boolean;
}

export type Acquired = Pick<QueuedDelivery, 'kind' | 'isFailing' | 'hasWaited' | 'ended' | 'leave'>;

/** No slot: defer the delivery. */
export interface Deferred {
  readonly kind: 'deferred';
  /** queue: it is full, or moved too slowly. endpoint-paused: it is full, and the endpoint asked for a pause. */
  readonly why: 'endpoint-failing' | 'endpoint-paused' | 'queue' | 'stopping';
  /** For how long its endpoint is paused yet, ms; 0: it is not. */
  readonly pausedMs: number;
  /** Of a queue that has no room: after how long it returns for its turn, ms; 0: unknown. */
  readonly turnMs: number;
}

/** What an attempt shows about its endpoint. retryAfterMs: what a refusal asked for. */
export interface AttemptEnd {
  readonly signal: EndpointSignal;
  readonly retryAfterMs?: number;
}

/** Each is called once for a delivery. */
interface Scheduler {
  ended(queued: QueuedDelivery, end: AttemptEnd): BreakerChange;
  left(queued: QueuedDelivery): void;
}

/** One object from queue to end, without closures: as several, with spread parts, they took 2 us and 1.5 KB of each delivery. */
export class QueuedDelivery {
  readonly kind = 'acquired';
  readonly acquisition: Promise<Acquired | Deferred>;
  stage: 'queued' | 'in-flight' | 'ended' | 'left' = 'queued';
  beganAt = 0;
  /** For how long the thread had been busy by then, ms. */
  beganBusyMs = 0;
  /** For how long the process had stood still by then, ms. */
  beganStillMs = 0;
  /** It had no slot at once. */
  hasWaited = false;
  /** Its endpoint was failing when it began. */
  isFailing = false;
  /** Of its slot; null: it holds none. */
  pool: { free(costMs: number): void } | null = null;
  /** What it is expected to take of the thread. */
  costMs = 0;
  isSlow = false;
  isUnproven = false;
  /** Ahead of all in its endpoint's queue that do not. Past its lifetime, a delivery without an attempt does. */
  goesFirst: boolean;
  readonly #scheduler: Scheduler;
  tell!: (acquisition: Acquired | Deferred) => void;
  #change: BreakerChange = null;

  constructor(
    scheduler: Scheduler,
    readonly endpoint: Endpoint,
    readonly queueing: Queueing,
    readonly cameAt: number,
  ) {
    this.#scheduler = scheduler;
    this.goesFirst = queueing.isUrgent === true || this.needsFirstAttempt(cameAt);
    this.acquisition = new Promise((tell) => {
      this.tell = tell;
    });
  }

  isOver(now: number): boolean {
    return now - this.cameAt >= (this.queueing.leftMs ?? Number.POSITIVE_INFINITY);
  }

  /** It is over, and was never sent. */
  needsFirstAttempt(now: number): boolean {
    return this.queueing.hasHadAttempt === false && this.isOver(now);
  }

  begin(pool: QueuedDelivery['pool'], costMs: number, now: number): void {
    this.stage = 'in-flight';
    this.pool = pool;
    this.costMs = costMs;
    this.beganAt = now;
    this.isFailing = this.endpoint.pace.isFailing;
    this.tell(this);
  }

  /** Call when the attempt has ended. Idempotent. */
  ended(end: AttemptEnd): BreakerChange {
    if (this.stage === 'in-flight') this.#change = this.#scheduler.ended(this, end);
    return this.#change;
  }

  /** Call once the attempt's result is durable. Idempotent. */
  leave(): void {
    this.ended({ signal: 'unknown' });
    if (this.stage === 'ended') this.#scheduler.left(this);
  }
}

/** What an attempt may take of the thread. */
const SHARE_MS = 0.5;
const HALF_LIFE_MS = 1_000;
/** For a few attempts at a healthy endpoint, also while the process has no time. */
const NEW_MS = 1_000;

export class Account {
  /** By URL. */
  readonly endpoints = new Map<string, Endpoint>();
  /** In the queues of its endpoints. */
  waiting = 0;
  waitingBytes = 0;
  inFlight = 0;
  /** Of these, of endpoints that were untried or failing. */
  unproven = 0;
  /** When the first attempt to one of its endpoints began; null: none has begun. */
  triedAt: number | null = null;
  /** An endpoint of it is cheap, and kept its connection. */
  isVouched = false;
  /** Of all, older than HOLD_MS. */
  slow = 0;
  #usedMs = 0;
  #usedAt = 0;

  constructor(readonly id: number) {}

  /** No attempt to one of its endpoints has begun, or the first began less than NEW_MS ago. */
  isNew(now: number): boolean {
    return now - (this.triedAt ?? now) < NEW_MS;
  }

  /** What it used of the thread beyond its shares: half is forgotten after a second. */
  usedMs(now: number): number {
    return this.#usedMs === 0 ? 0 : this.#usedMs * 2 ** ((this.#usedAt - now) / HALF_LIFE_MS);
  }

  used(ms: number, now: number): void {
    this.#usedMs = Math.max(0, this.usedMs(now) + ms - SHARE_MS);
    this.#usedAt = now;
  }
}

/** No attempt begins while so many results of its endpoint are not durable: after a crash those attempts are made once more. */
const MAX_UNRECORDED = 64;

/** After an attempt began: its secrets are unsealed meanwhile. */
const CONNECTION_TAKEN_WITHIN_MS = 2;

export class Endpoint {
  /** The first is the first that came. */
  readonly queue: QueuedDelivery[] = [];
  bytes = 0;
  /** How many of the queue go first. */
  first = 0;
  inFlight = 0;
  /** Attempts that have ended, and whose results are not durable yet. */
  unrecorded = 0;
  /** Takes back its timer, where its rate or a pause keeps it from beginning an attempt. */
  stopTimer: (() => void) | null = null;
  #begunJust = 0;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly url: string,
    readonly account: Account,
    readonly key: EndpointKey,
    readonly pace: EndpointPace,
  ) {}

  began(now: number): void {
    this.#begunJust = this.begunJust(now) + 1;
    this.#begunAt = now;
  }

  /** Attempts that may not have taken their connection yet. */
  begunJust(now: number): number {
    return now - this.#begunAt < CONNECTION_TAKEN_WITHIN_MS ? this.#begunJust : 0;
  }

  get wantsSlot(): boolean {
    return this.queue.length > 0 && this.unrecorded < MAX_UNRECORDED && this.pace.hasRoom(this.inFlight);
  }

  /** Nothing of it is queued, in flight, or to be recorded. */
  get isIdle(): boolean {
    return this.inFlight === 0 && this.queue.length === 0 && this.unrecorded === 0;
  }
}
