/**
 * Whether records are taken from the broker. If this process is the bottleneck, deferring deliveries makes it worse: a deferral
 * costs as much as a delivery. So records stay in their topics. If endpoints are slow, records are taken: what finds a queue
 * full is deferred, and holds up nobody else.
 *
 *   open -> paused   (the process is the bottleneck, and LONG queues wait for it, not for their endpoints)
 *   paused -> open   (SHORT queues do, or the process has time)
 *
 * Paused, it goes on with what accounts usually get, up to twice as many: what was always sent at once still is.
 */
import type { Endpoint } from './isolation/endpoint.js';

/** Deliveries, in all queues together. One queue may hold more. */
const LONG = 1_500;
/** From there all records are taken again. The lower it is, the longer a newcomer waits: at 1,300 deliveries a second 0.1 s. */
const SHORT = 1_400;
/** What has more than that counts as several: LONG is 8 MiB. */
const BYTES_EACH = (8 * 1024 * 1024) / LONG;
/** What may yet prove to cost too much counts only this much: hostile endpoints are untried at first, too. */
const UNSURE = 1 / 4;
/** Deliveries that the endpoint would take within this time count as held up by this process. */
const TAKEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;
const USUAL_LATELY_MS = 1_000;
/** 40 a second. */
const OTHERS_EVERY_MS = 25;
/** Of the thread's time. */
const BUSY = 0.95;

type Queue = Pick<Endpoint, 'queue' | 'bytes' | 'pace' | 'inFlight'>;

/** @param isUsual whether the record's account is within its usual rate */
type MayConsume = (isUsual?: boolean) => boolean;

/** Deliveries that are queued, and their bytes. */
type Load = { readonly waiting: number; readonly waitingBytes: number };

const NOTHING: Load = { waiting: 0, waitingBytes: 0 };

export interface BackpressureParts {
  readonly queues: Load & { readonly all: () => Iterable<Queue> };
  /** Whether attempts of healthy or untried endpoints wait for a slot, or for their budget of the thread. */
  readonly slotsAreShort: () => boolean;
  /** ms for which the thread was busy so far. */
  readonly busyMs: () => number;
  /** ms that never go back, as the queues count them. */
  readonly now: () => number;
}

export class Backpressure {
  readonly #parts: BackpressureParts;
  #lookedAt = 0;
  #busyAt = 0;
  /** At the last look: what this process held up, and all that was queued. */
  #heldUp: Load = NOTHING;
  #queued: Load = NOTHING;
  /** Until fewer are held up, records of accounts within their usual rate are taken, and few others. */
  isPaused = false;
  /** When one was taken all the same. */
  #usualAt = Number.NEGATIVE_INFINITY;

  constructor(parts: BackpressureParts) {
    this.#parts = parts;
  }

  /** For one consumer, which asks before each record, so it is cheap; after a yes the record begins. */
  asker(): MayConsume {
    let begunAt = Number.NEGATIVE_INFINITY;
    return (isUsual = false) => {
      if (this.mayConsume(isUsual)) return true;
      // While usual ones go on, each consumer begins some others, so that none waits for ever.
      const now = this.#parts.now();
      if (isUsual || now - this.#usualAt > USUAL_LATELY_MS || now - begunAt < OTHERS_EVERY_MS) return false;
      begunAt = now;
      return true;
    };
  }

  mayConsume(isUsual = false): boolean {
    const most = this.isPaused ? SHORT : LONG;
    const load = this.#load(most);
    this.isPaused = load > most;
    if (!this.isPaused) return true;
    if (!isUsual || load > 2 * LONG) return false;
    this.#usualAt = this.#parts.now();
    return true;
  }

  /** What came since the last look counts as held up until the next one. */
  #load(most: number): number {
    const { queues, now } = this.#parts;
    if (loadOf(queues) > most && now() - this.#lookedAt >= LOOK_EVERY_MS) this.#look();
    const waiting = this.#heldUp.waiting + queues.waiting - this.#queued.waiting;
    const waitingBytes = this.#heldUp.waitingBytes + queues.waitingBytes - this.#queued.waitingBytes;
    return Math.min(loadOf(queues), loadOf({ waiting, waitingBytes }));
  }

  /** It goes over all queues: seldom. The first look after a pause sees the average of the pause, so saturation is noticed a look late. */
  #look(): void {
    const { queues, busyMs, now, slotsAreShort } = this.#parts;
    const [at, busy] = [now(), busyMs()];
    const isBottleneck = busy - this.#busyAt >= BUSY * (at - this.#lookedAt) || slotsAreShort();
    this.#heldUp = isBottleneck ? heldUp(queues.all(), at) : NOTHING;
    this.#queued = { waiting: queues.waiting, waitingBytes: queues.waitingBytes };
    this.#lookedAt = at;
    this.#busyAt = busy;
  }
}

/** By this process rather than by their endpoint. */
function heldUp(endpoints: Iterable<Queue>, now: number): Load {
  let [waiting, waitingBytes] = [0, 0];
  for (const endpoint of endpoints) {
    const { queue, bytes } = endpoint;
    if (queue.length === 0) continue;
    const taken = heldUpOf(endpoint, now);
    waiting += taken;
    waitingBytes += (bytes * taken) / queue.length;
  }
  return { waiting, waitingBytes };
}

/** What it would take soon; of an untried one, its first attempt, which the others wait for. */
function heldUpOf({ queue, pace, inFlight }: Queue, now: number): number {
  if (pace.isUntried) return inFlight === 0 ? UNSURE : 0;
  const taken = Math.min(queue.length, pace.takesWithin(TAKEN_WITHIN_MS, now));
  if (pace.isCheap) return taken;
  return pace.seemsCheap ? UNSURE * taken : 0;
}

const loadOf = ({ waiting, waitingBytes }: Load) => Math.max(waiting, waitingBytes / BYTES_EACH);
