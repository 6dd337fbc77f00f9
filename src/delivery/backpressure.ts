/**
 * Whether records are taken from the broker. If this process is the bottleneck, deferring deliveries makes it worse: a deferral
 * costs as much as a delivery. So records stay in their topics. If endpoints are slow, records are taken: what finds a queue
 * full is deferred, and holds up nobody else.
 *
 *   open -> paused   (the process is busy, and LONG queues wait for it, not for their endpoints)
 *   paused -> open   (SHORT queues do, or the process has time)
 */
import type { Endpoint } from './isolation/endpoint.js';

/** Deliveries, in all queues together. One queue may hold more. */
const LONG = 1_500;
/** From there each consumer begins some again, so that one does not starve the other. */
const SHORT = 500;
/** What has more than that counts as several: LONG is 8 MiB. */
const BYTES_EACH = (8 * 1024 * 1024) / LONG;
/** Deliveries that the endpoint would take within this time count as held up by this process. */
const TAKEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;
/** Of the thread's time. */
const BUSY = 0.95;

/** Deliveries that are queued, and their bytes. */
type Load = { readonly waiting: number; readonly waitingBytes: number };

export interface BackpressureParts {
  readonly queues: Load & { readonly all: () => Iterable<Pick<Endpoint, 'queue' | 'bytes' | 'pace'>> };
  /** ms for which the thread was busy so far. */
  readonly busyMs: () => number;
  /** ms that never go back, as the queues count them. */
  readonly now: () => number;
}

export class Backpressure {
  readonly #parts: BackpressureParts;
  #lookedAt = 0;
  #busyAt = 0;
  isPaused = false;

  constructor(parts: BackpressureParts) {
    this.#parts = parts;
  }

  /** Cheap: asked for each record. */
  mayConsume(): boolean {
    const most = this.isPaused ? SHORT : LONG;
    if (loadOf(this.#parts.queues) <= most) this.isPaused = false;
    else if (this.#parts.now() - this.#lookedAt >= LOOK_EVERY_MS) this.#look(most);
    return !this.isPaused;
  }

  /** It goes over all queues: seldom. The first look after a pause sees the average of the pause, so saturation is noticed a look late. */
  #look(most: number): void {
    const { queues, busyMs, now } = this.#parts;
    const [at, busy] = [now(), busyMs()];
    const isBusy = busy - this.#busyAt >= BUSY * (at - this.#lookedAt);
    this.isPaused = isBusy && loadOf(heldUp(queues.all(), at)) > most;
    this.#lookedAt = at;
    this.#busyAt = busy;
  }
}

/** By this process rather than by their endpoint: what those that take deliveries would take soon. */
function heldUp(endpoints: Iterable<Pick<Endpoint, 'queue' | 'bytes' | 'pace'>>, now: number): Load {
  let [waiting, waitingBytes] = [0, 0];
  for (const { queue, bytes, pace } of endpoints) {
    const taken = pace.isCheap ? Math.min(queue.length, pace.takesWithin(TAKEN_WITHIN_MS, now)) : 0;
    waiting += taken;
    waitingBytes += queue.length > 0 ? (bytes * taken) / queue.length : 0;
  }
  return { waiting, waitingBytes };
}

const loadOf = ({ waiting, waitingBytes }: Load) => Math.max(waiting, waitingBytes / BYTES_EACH);
