/** A consumer's knowledge of its membership in the group. */
export interface Lease {
  /** While false, nothing is handed out. */
  readonly holds: boolean;
  /** Fulfilled with true once the lease holds; with false once it is lost or the wait is cancelled. */
  settled(): Promise<boolean>;
}

export const FOR_EVER: Lease = { holds: true, settled: async () => true };
