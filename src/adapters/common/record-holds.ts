/** The holds that one consumer's handlers have on their records, and the parts they have started. */
import type { ReceivedRecord, RecordHold } from '../../ports/broker.js';
import type { Lease } from './lease.js';

/** A lane's record of which parts of its records are done. */
export interface Parts {
  isPartDone(record: ReceivedRecord, part: number): boolean;
  partDone(record: ReceivedRecord, part: number): void;
}

export interface Holding {
  readonly hold: RecordHold;
  /** The handler's promise is settled. */
  ended(): void;
}

export class RecordHolds<L extends Parts> {
  readonly #lease: Lease;
  readonly #has: (lane: L) => boolean;
  /** Parts of records that were started after a yes and have not ended. */
  #begun = 0;
  #quiet: () => void = () => undefined;

  /** @param has whether this consumer still owns the lane */
  constructor(lease: Lease, has: (lane: L) => boolean) {
    this.#lease = lease;
    this.#has = has;
  }

  of(lane: L, record: ReceivedRecord): Holding {
    let begun = 0;
    const count = (by: number) => {
      begun += by;
      this.#count(by);
    };
    const hold: RecordHold = {
      isOwn: () => this.#isOwn(lane, () => count(1)),
      isPartDone: (part) => lane.isPartDone(record, part),
      partDone: (part) => {
        lane.partDone(record, part);
        if (begun > 0) count(-1);
      },
    };
    return { hold, ended: () => count(-begun) };
  }

  /** Call while the lease does not hold: fulfilled once all started parts have ended. */
  async quiet(): Promise<void> {
    if (this.#begun === 0) return;
    await new Promise<void>((resolve) => {
      this.#quiet = resolve;
    });
  }

  #isOwn(lane: L, begin: () => void): boolean | Promise<boolean> {
    if (!this.#has(lane)) return false;
    if (!this.#lease.holds) return this.#lease.settled().then((holds) => holds && this.#isOwn(lane, begin));
    begin();
    return true;
  }

  #count(by: number): void {
    this.#begun += by;
    if (this.#begun === 0) this.#quiet();
  }
}
