/**
 * Whether records are taken from the broker. If this process is the bottleneck, deferring deliveries makes it worse: a deferral
 * costs as much as a delivery. So records stay in their topics. If endpoints are slow, records are taken: what finds a queue
 * full is deferred, and holds up nobody else.
 *
 *   open -> paused   (the process is busy, and LONG queues wait for it, not for their endpoints)
 *   paused -> open   (SHORT queues do, or the process has time)
 */
import type { Load } from './isolation/endpoints.js';

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

export interface BackpressureParts {
  readonly queues: Load & { readonly queuedForUs: (ms: number) => Load };
  /** ms for which the thread was busy so far. */
  readonly busyMs: () => number;
  /** ms that never go back. */
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
    this.isPaused = isBusy && loadOf(queues.queuedForUs(TAKEN_WITHIN_MS)) > most;
    this.#lookedAt = at;
    this.#busyAt = busy;
  }
}

function loadOf({ waiting, waitingBytes }: Load): number {
  return Math.max(waiting, waitingBytes / BYTES_EACH);
}
