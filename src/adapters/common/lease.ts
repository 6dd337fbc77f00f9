/** What a consumer knows of its place in the group. */
export interface Lease {
  /** While it does not, nothing is handed out. */
  readonly holds: boolean;
  /** Fulfilled once it holds, or with false once it is lost, or nobody may wait any more. */
  settled(): Promise<boolean>;
}

export const FOR_EVER: Lease = { holds: true, settled: async () => true };

/** Those who wait for a lease. */
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

  /** From now on nobody waits. */
  close(lease: Pick<Lease, 'holds'>): void {
    this.#closed = true;
    this.answer(lease.holds);
  }
}
