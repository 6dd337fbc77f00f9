/** A consumer's knowledge of its membership in the group. */
export interface Lease {
  /** While false, nothing is handed out. */
  readonly holds: boolean;
  /** Fulfilled with true once the lease holds; with false once it is lost or the wait is cancelled. */
  settled(): Promise<boolean>;
}

export const FOR_EVER: Lease = { holds: true, settled: async () => true };

/** The callers that wait for a lease. */
export class LeaseQuestions {
  #waiting: ((holds: boolean) => void)[] = [];
  #closed = false;

  ask(lease: Pick<Lease, 'holds'>): Promise<boolean> {
    if (lease.holds || this.#closed) return Promise.resolve(lease.holds);
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  answer(holds: boolean): void {
    for (const resolve of this.#waiting.splice(0)) resolve(holds);
  }

  /** Ends all waits, now and later. */
  close(lease: Pick<Lease, 'holds'>): void {
    this.#closed = true;
    this.answer(lease.holds);
  }
}
