/** The holds that one consumer's handlers have on their records, and the parts they have started. */
import type { NewRecord, RecordHold } from '../../ports/broker.js';
import type { RecordLane } from './record-lane.js';

export interface Lease {
  /** While false, nothing is handed out. */
  readonly holds: boolean;
  /** Fulfilled with true once the lease holds; with false once it is lost or the wait is cancelled. */
  settled(): Promise<boolean>;
}

export const FOR_EVER: Lease = { holds: true, settled: async () => true };

export class RecordHolds {
  readonly lease: Lease;
  readonly has: (lane: RecordLane) => boolean;
  readonly partDone: () => void;
  /** Parts of records that were started after a yes and have not ended. */
  #begun = 0;
  #quiet: () => void = () => undefined;

  /** @param partDone called for each part that is done */
  constructor(lease: Lease, has: (lane: RecordLane) => boolean, partDone: () => void) {
    this.lease = lease;
    this.has = has;
    this.partDone = partDone;
  }

  /** Call while the lease does not hold: fulfilled once all started parts have ended. */
  async quiet(): Promise<void> {
    if (this.#begun === 0) return;
    await new Promise<void>((resolve) => {
      this.#quiet = resolve;
    });
  }

  count(by: number): void {
    this.#begun += by;
    if (this.#begun === 0) this.#quiet();
  }
}

export class Hold implements RecordHold {
  readonly #holds: RecordHolds;
  readonly #lane: RecordLane;
  readonly #offset: number;
  readonly keep: (content: NewRecord) => void;
  #begun = 0;

  constructor(holds: RecordHolds, lane: RecordLane, offset: number, keep: (content: NewRecord) => void) {
    this.#holds = holds;
    this.#lane = lane;
    this.#offset = offset;
    this.keep = keep;
  }

  isOwn(): boolean | Promise<boolean> {
    const { lease, has } = this.#holds;
    if (!has(this.#lane)) return false;
    if (!lease.holds) return lease.settled().then((holds) => holds && this.isOwn());
    this.#count(1);
    return true;
  }

  isPartDone(part: number): boolean {
    return this.#lane.isPartDone(this.#offset, part);
  }

  partDone(part: number): void {
    this.#lane.partDone(this.#offset, part);
    this.#holds.partDone();
    if (this.#begun > 0) this.#count(-1);
  }

  /** Call once the handler's promise is settled. */
  ended(): void {
    this.#count(-this.#begun);
  }

  #count(by: number): void {
    this.#begun += by;
    this.#holds.count(by);
  }
}
