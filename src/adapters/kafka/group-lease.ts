/**
 * How long a member may act as the owner of its partitions. Kafka reassigns them in two cases: once this member has asked to
 * rejoin, or left; and once it has been silent for the session timeout.
 *
 *   joining -> held (a join was answered, and the offset of each partition is known) -> joining (before the next join)
 *                \-> lapsed (no heartbeat was answered for too long) -> held (by a heartbeat) | joining
 *
 * A heartbeat counts from when it was sent: a process that stalls after that has no time left when it resumes.
 */
import type { Lease } from '../common/record-holds.js';

/** Fraction of the session timeout: work started within it must be on its way before the timeout. */
const PART = 0.9;

export class GroupLease implements Lease {
  readonly #ms: number;
  readonly #regained: () => void;
  #waiting: ((holds: boolean) => void)[] = [];
  #stopped = false;
  #isJoining = true;
  #until = Number.NEGATIVE_INFINITY;

  constructor(sessionTimeoutMs: number, regained: () => void) {
    this.#ms = PART * sessionTimeoutMs;
    this.#regained = regained;
  }

  get holds(): boolean {
    return !this.#isJoining && performance.now() < this.#until;
  }

  settled(): Promise<boolean> {
    if (this.holds || this.#stopped) return Promise.resolve(this.holds);
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** @param sentMs how long ago the request that was answered now was sent */
  renewed(sentMs: number): void {
    this.#until = Math.max(this.#until, performance.now() - sentMs + this.#ms);
    this.#tell();
  }

  joining(): void {
    this.#isJoining = true;
  }

  joined(): void {
    this.#isJoining = false;
    this.#tell();
  }

  stop(): void {
    this.#stopped = true;
    this.#answer(this.holds);
  }

  #tell(): void {
    if (!this.holds) return;
    this.#answer(true);
    this.#regained();
  }

  #answer(holds: boolean): void {
    for (const resolve of this.#waiting.splice(0)) resolve(holds);
  }
}
