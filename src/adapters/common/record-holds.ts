/** The holds that one consumer's handlers have on their records, and the parts they have started. */
import type { RecordHold } from '../../ports/broker.js';
import type { RecordLane } from './record-lane.js';

export interface Lease {
  /** While false, nothing is handed out. */
  readonly holds: boolean;
  /** Fulfilled with true once the lease holds; with false once it is lost or the wait is cancelled. */
  settled(): Promise<boolean>;
}

export const FOR_EVER: Lease = { holds: true, settled: async () => true };

export class RecordHolds {
  readonly #lease: Lease;
  readonly #has: (lane: RecordLane) => boolean;
  /** Parts of records that were started after a yes and have not ended. */
  #begun = 0;
  #quiet: () => void = () => undefined;

  constructor(lease: Lease, has: (lane: RecordLane) => boolean) {
    this.#lease = lease;
    this.#has = has;
  }

  /** `ended`: call once the handler's promise is settled. */
  of(lane: RecordLane, offset: number): { readonly hold: RecordHold; ended(): void } {
    let begun = 0;
    const count = (by: number) => {
      begun += by;
      this.#count(by);
    };
    const hold: RecordHold = {
      isOwn: () => this.#isOwn(lane, () => count(1)),
      isPartDone: (part) => lane.isPartDone(offset, part),
      partDone: (part) => {
        lane.partDone(offset, part);
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

  #isOwn(lane: RecordLane, begin: () => void): boolean | Promise<boolean> {
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
