/** What the handlers of one consumer are told of the records that they have, and what they have begun of them. */
import type { ReceivedRecord, RecordHold } from '../../ports/broker.js';
import type { Lease } from './lease.js';

/** Of a lane, which parts of its records are done. */
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
  /** Begun after a yes, and not ended: parts of records. */
  #begun = 0;
  #quiet: () => void = () => undefined;

  /** @param has whether the lane is still one of this consumer's */
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

  /** While the lease does not hold: fulfilled once all that was begun has ended. */
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
