/**
 * Whether records are taken from the broker. Where this process itself is what is slow, to put deliveries off would make
 * that worse: a put-off costs more than a delivery, and what comes back from a tier would be put off again. So records
 * wait in their topics. Where endpoints are slow they are taken: a full line is put off, and holds nobody else.
 *
 *   open -> held   (LONG above what is stuck waits in the lines, and the process is busy)
 *   held -> open   (only SHORT above it waits, or the process has time)
 *               \-> (what waits hardly gets less: it waits for slow endpoints; from then on it is stuck, for STUCK_MS)
 *
 * What waits for endpoints that stand is no load: two looks in a row saw that they have ended nothing for STANDING_MS, but
 * by failures. One alone says nothing: after a standstill of the process every line looks so, for a turn or two.
 *
 * Hazard: that a process is busy need not come from deliveries. To hold helps only while the lines get shorter by it.
 */
import type { EndpointGate } from './endpoint-gate.js';

/** Deliveries, in all lines together. One line may hold more. */
const LONG = 1_500;
/** From there each consumer begins some again, so that one does not starve the other. */
const SHORT = 500;
/** What has more than that counts as several: LONG is 8 MiB. */
const BYTES_EACH = (8 * 1024 * 1024) / LONG;

const LOOK_EVERY_MS = 100;
/** From one look to the next: 500 deliveries a second. */
const LEAST_FALL = 50;
/** In a row, without that fall: the one after a standstill of the process says nothing. */
const LOOKS = 2;
const STUCK_MS = 5_000;
const STANDING_MS = 1_000;
const STANDING_LOOK_MS = 20;
/** Looks that are further apart are not in a row. */
const IN_A_ROW_MS = 100;

export interface IntakeParts {
  readonly gate: Pick<EndpointGate, 'waiting' | 'waitingBytes' | 'standing'>;
  /** Asked only while much waits. */
  readonly isBusy: () => boolean;
  /** ms that never go back. */
  readonly now: () => number;
}

type Waiting = Pick<EndpointGate, 'waiting' | 'waitingBytes'>;

const NONE: Waiting = { waiting: 0, waitingBytes: 0 };

interface Look {
  readonly at: number;
  readonly load: number;
  /** Looks in a row that saw no fall. */
  readonly still: number;
}

export class Intake {
  readonly #parts: IntakeParts;
  /** The last one since it is held; null while it is open. */
  #look: Look | null = null;
  #stuck = { load: 0, until: 0 };
  #seen = { at: Number.NEGATIVE_INFINITY, standing: NONE };
  #standing = NONE;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  get isHeld(): boolean {
    return this.#look !== null;
  }

  /** Cheap: asked for each record. */
  mayBegin(): boolean {
    const { gate, isBusy, now } = this.#parts;
    const most = this.#look ? SHORT : LONG;
    const isOpen = loadOf(gate) <= most || !isBusy();
    this.#look = isOpen ? null : this.#lookAt(now(), most);
    return this.#look === null;
  }

  #lookAt(at: number, most: number): Look | null {
    const load = this.#loadAt(at);
    const stuck = at < this.#stuck.until ? this.#stuck.load : 0;
    return load <= most + stuck ? null : this.#lookAgain(at, load);
  }

  /** Of what does not wait for endpoints that stand. */
  #loadAt(at: number): number {
    const { gate } = this.#parts;
    if (at - this.#seen.at >= STANDING_LOOK_MS) this.#lookForStanding(at);
    const { waiting, waitingBytes } = this.#standing;
    return loadOf({ waiting: gate.waiting - waiting, waitingBytes: gate.waitingBytes - waitingBytes });
  }

  #lookForStanding(at: number): void {
    const last = this.#seen;
    const standing = this.#parts.gate.standing(STANDING_MS);
    this.#standing = at - last.at <= IN_A_ROW_MS ? least(last.standing, standing) : NONE;
    this.#seen = { at, standing };
  }

  #lookAgain(at: number, load: number): Look | null {
    const last = this.#look ?? { at, load, still: 0 };
    if (at - last.at < LOOK_EVERY_MS) return last;
    const still = last.load - load < LEAST_FALL ? last.still + 1 : 0;
    if (still < LOOKS) return { at, load, still };
    this.#stuck = { load, until: at + STUCK_MS };
    return null;
  }
}

function least(one: Waiting, other: Waiting): Waiting {
  const waiting = Math.min(one.waiting, other.waiting);
  return { waiting, waitingBytes: Math.min(one.waitingBytes, other.waitingBytes) };
}

function loadOf({ waiting, waitingBytes }: Waiting): number {
  return Math.max(waiting, waitingBytes / BYTES_EACH);
}
