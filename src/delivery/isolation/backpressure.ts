/**
 * Whether records are taken from the broker. If this process is the bottleneck, deferring deliveries makes it worse: a deferral
 * costs as much as a delivery. So records stay in their topics. If endpoints are slow, records are taken: what finds a queue
 * full is deferred, and holds up nobody else.
 *
 *   open -> paused   (the process is busy, and LONG queues wait for it, not for their endpoints)
 *   paused -> open   (SHORT queues do, or the process has time)
 */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Load } from './endpoints.js';

/** Deliveries, in all queues together. One queue may hold more. */
const LONG = 1_500;
/** From there each consumer begins some again, so that one does not starve the other. */
const SHORT = 500;
/** What has more than that counts as several: LONG is 8 MiB. */
const BYTES_EACH = (8 * 1024 * 1024) / LONG;
/** Deliveries that the endpoint would take within this time count as held up by this process. */
const TAKEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;

interface Scheduler extends Load {
  queuedForFast(ms: number): Load;
}

export class Backpressure {
  readonly #scheduler: Scheduler;
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  #isPaused = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #loadForUs = 0;

  /** @param isBusy asked only while much is queued @param now ms that never go back */
  constructor(scheduler: Scheduler, isBusy: () => boolean, now: () => number) {
    this.#scheduler = scheduler;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Cheap: asked for each record. */
  mayConsume(): boolean {
    const most = this.#isPaused ? SHORT : LONG;
    this.#isPaused = loadOf(this.#scheduler) > most && this.#isBusy() && this.#lookForUs() > most;
    return !this.#isPaused;
  }

  /** It goes over all queues: seldom. */
  #lookForUs(): number {
    const now = this.#now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#loadForUs;
    this.#lookedAt = now;
    this.#loadForUs = loadOf(this.#scheduler.queuedForFast(TAKEN_WITHIN_MS));
    return this.#loadForUs;
  }
}

function loadOf({ waiting, waitingBytes }: Load): number {
  return Math.max(waiting, waitingBytes / BYTES_EACH);
}

/** The event loop has hardly any time left. */
const BUSY = 0.95;

/**
 * Measures when it is called, once in LOOK_EVERY_MS at most. The first call after a pause reports the average of the pause,
 * so saturation is noticed one window late.
 */
export function createBusyLoop(): () => boolean {
  let since: EventLoopUtilization = performance.eventLoopUtilization();
  let at = performance.now();
  let isBusy = false;
  return () => {
    const now = performance.now();
    if (now - at < LOOK_EVERY_MS) return isBusy;
    at = now;
    const until = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(until, since).utilization >= BUSY;
    since = until;
    return isBusy;
  };
}
