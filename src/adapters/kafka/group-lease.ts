/**
 * How long a member may act as the owner of its partitions. Kafka gives them to others in two ways: once this member has
 * asked to join again, or left; and once it has been silent for the session timeout.
 *
 *   joining -> held (a join was answered, and it is known where each partition stands) -> joining (before the next join)
 *                \-> lapsed (no heartbeat was answered for too long) -> held (by a heartbeat) | joining
 *
 * A heartbeat counts from when it was sent: a process that stood still after that has no time left when it goes on.
 */
import { type Lease, LeaseQuestions } from '../common/lease.js';

/** Of the session timeout: what is begun then has to be on its way before that is over. */
const PART = 0.9;

export class GroupLease implements Lease {
  readonly #ms: number;
  readonly #regained: () => void;
  readonly #questions = new LeaseQuestions();
  #isJoining = true;
  #until = Number.NEGATIVE_INFINITY;

  /** @param regained called when it holds again */
  constructor(sessionTimeoutMs: number, regained: () => void) {
    this.#ms = PART * sessionTimeoutMs;
    this.#regained = regained;
  }

  get holds(): boolean {
    return !this.#isJoining && performance.now() < this.#until;
  }

  settled(): Promise<boolean> {
    return this.#questions.ask(this);
  }

  /** @param sentMs how long ago what was answered now was sent */
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

  /** From now on nobody waits. */
  stop(): void {
    this.#questions.close(this);
  }

  #tell(): void {
    if (!this.holds) return;
    this.#questions.answer(true);
    this.#regained();
  }
}
