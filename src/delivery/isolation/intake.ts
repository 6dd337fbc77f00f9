/**
 * Whether records are taken from the broker. If this process is the bottleneck, parking deliveries makes it worse: to park
 * one costs as much as to make it. So records wait in their topics. If endpoints are slow, records are taken: a full line is
 * parked, and holds nobody else.
 *
 *   open -> held   (the process is busy, and LONG lines wait for it, not for their endpoints)
 *   held -> open   (SHORT lines do, or the process has time)
 */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Load } from './gate-endpoints.js';

/** Deliveries, in all lines together. One line may hold more. */
const LONG = 1_500;
/** From there each consumer begins some again, so that one does not starve the other. */
const SHORT = 500;
/** What has more than that counts as several: LONG is 8 MiB. */
const BYTES_EACH = (8 * 1024 * 1024) / LONG;
/** Deliveries that the endpoint would take within this time count as held up by this process. */
const TAKEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;

interface Gate extends Load {
  waitingForUs(ms: number): Load;
}

export class Intake {
  readonly #gate: Gate;
  readonly #isBusy: () => boolean;
  readonly #now: () => number;
  #isHeld = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #loadForUs = 0;

  /** @param isBusy asked only while much waits @param now ms that never go back */
  constructor(gate: Gate, isBusy: () => boolean, now: () => number) {
    this.#gate = gate;
    this.#isBusy = isBusy;
    this.#now = now;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Cheap: asked for each record. */
  mayBegin(): boolean {
    const most = this.#isHeld ? SHORT : LONG;
    this.#isHeld = loadOf(this.#gate) > most && this.#isBusy() && this.#lookForUs() > most;
    return !this.#isHeld;
  }

  /** It goes over all lines: seldom. */
  #lookForUs(): number {
    const now = this.#now();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return this.#loadForUs;
    this.#lookedAt = now;
    this.#loadForUs = loadOf(this.#gate.waitingForUs(TAKEN_WITHIN_MS));
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
