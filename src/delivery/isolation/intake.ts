/**
 * Whether records are taken from the broker. Where this process itself is what is slow, to park deliveries would make that
 * worse: it costs as much as to make them, and what comes back from a tier would be parked again. So records wait in their
 * topics. Where endpoints are slow records are taken: a full line is parked, and holds nobody else.
 *
 *   open -> held   (the process is busy, and LONG lines wait for it, not for their endpoints)
 *   held -> open   (SHORT lines do, or the process has time)
 */
import type { EndpointGate } from './endpoint-gate.js';

/** Deliveries, in all lines together. One line may hold more. */
const LONG = 1_500;
/** From there each consumer begins some again, so that one does not starve the other. */
const SHORT = 500;
/** What has more than that counts as several: LONG is 8 MiB. */
const BYTES_EACH = (8 * 1024 * 1024) / LONG;
/** What its endpoint would take in that time, at its own pace, waits for this process. */
const TAKEN_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 20;

export interface IntakeParts {
  readonly gate: Pick<EndpointGate, 'waiting' | 'waitingBytes' | 'waitingForUs'>;
  /** Asked only while much waits. */
  readonly isBusy: () => boolean;
  /** ms that never go back. */
  readonly now: () => number;
}

export class Intake {
  readonly #parts: IntakeParts;
  #isHeld = false;
  #look = { at: Number.NEGATIVE_INFINITY, load: 0 };

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Cheap: asked for each record. */
  mayBegin(): boolean {
    const { gate, isBusy } = this.#parts;
    const most = this.#isHeld ? SHORT : LONG;
    this.#isHeld = loadOf(gate) > most && isBusy() && this.#loadForUs() > most;
    return !this.#isHeld;
  }

  /** It goes over all lines: seldom. */
  #loadForUs(): number {
    const { gate, now } = this.#parts;
    const at = now();
    if (at - this.#look.at >= LOOK_EVERY_MS) this.#look = { at, load: loadOf(gate.waitingForUs(TAKEN_WITHIN_MS)) };
    return this.#look.load;
  }
}

function loadOf({ waiting, waitingBytes }: { readonly waiting: number; readonly waitingBytes: number }): number {
  return Math.max(waiting, waitingBytes / BYTES_EACH);
}
