/**
 * One consumer of a group works at a time, over all processes. Two things say who:
 *
 * - The lock: an open exclusive transaction on a file of its own. The operating system lets go of it when the process
 *   dies, kill -9 too. The others look every 50 ms whether it is free.
 * - The beat: who has the group sets the file's time every second. A process that is stopped keeps the lock and beats no
 *   more. After SILENT_MS without a beat, counted by its own looks, another one takes the group without the lock.
 *
 *   standing by -> holding, with the lock             (it was free)
 *               -> holding, without it -> with it     (its holder was silent; the lock is taken once that lets go)
 *   holding -> lapsed (no beat of its own for HOLDS_MS) -> holding      (nobody took it meanwhile)
 *                                                       \-> standing by (somebody did: the lock is let go of)
 *
 * HOLDS_MS is less than SILENT_MS: who wakes up after a silence begins nothing before it has asked. Who asks and who takes
 * change one generation (group-claims.ts), so of the two one has it, whatever clocks say; offsets are remembered only
 * under the current one. One that is merely slow loses the group for nothing worse than its lines.
 */
import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { type Lease, LeaseQuestions } from '../common/lease.js';
import { type Claim, GroupClaims } from './group-claims.js';
import { isBusy, openFile, type SqliteFile } from './open-file.js';
import type { StoreFile } from './store-file.js';

export interface LockTimes {
  readonly lookMs: number;
  readonly beatMs: number;
  readonly holdsMs: number;
  readonly silentMs: number;
}

const TIMES: LockTimes = { lookMs: 50, beatMs: 1_000, holdsMs: 8_000, silentMs: 10_000 };
/** Of a silence that one look counts: whoever stood still itself has seen nothing meanwhile. ms */
const MOST_A_LOOK = 500;

export interface GroupLockOptions {
  readonly group: string;
  /** @throws where it can't begin: it is tried again */
  readonly taken: () => void;
  /** Another process has it. */
  readonly lost: () => void;
  /** It holds again, after it was not known whether it does. */
  readonly regained: () => void;
  readonly times?: LockTimes;
}

interface Seen {
  readonly claim: Claim | null;
  readonly beat: number;
  readonly at: number;
  readonly silentMs: number;
}

export class GroupLock implements Lease {
  readonly #path: string;
  readonly #options: GroupLockOptions;
  readonly #times: LockTimes;
  readonly #claims: GroupClaims;
  readonly #questions = new LeaseQuestions();
  #file: SqliteFile | null = null;
  /** Null while it stands by. */
  #generation: number | null = null;
  #beatAt = Number.NEGATIVE_INFINITY;
  #seen: Seen = { claim: null, beat: 0, at: 0, silentMs: 0 };
  #timer: NodeJS.Timeout | null = null;

  constructor(store: StoreFile, options: GroupLockOptions) {
    this.#path = join(store.dataDir, `group-${encodeURIComponent(options.group)}.lock`);
    this.#options = options;
    this.#times = options.times ?? TIMES;
    this.#claims = new GroupClaims(store, options.group);
  }

  get holds(): boolean {
    return this.#generation !== null && performance.now() - this.#beatAt < this.#times.holdsMs;
  }

  settled(): Promise<boolean> {
    return this.#questions.ask(this);
  }

  /** Whether nobody has taken the group since: by what store.sqlite says, within the transaction that asks. */
  isCurrent(): boolean {
    return this.#generation !== null && this.#claims.read()?.generation === this.#generation;
  }

  /** Fulfilled after the first look: taken where it was free, else as soon as it is. @throws an error of fs, at once */
  acquire(): Promise<void> {
    this.#file = openFile(this.#path, 0);
    return this.#lookAgain();
  }

  /** Nobody waits any more to hear whether it holds. */
  stop(): void {
    this.#questions.close(this);
  }

  release(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#file?.close();
    this.#file = null;
    this.#generation = null;
    this.#questions.close(this);
  }

  /** Somebody says that another process has it: whether it holds is asked for, and not taken for granted before. */
  doubt(): void {
    this.#beatAt = Number.NEGATIVE_INFINITY;
  }

  /** Another process has it: this one stands by. */
  #lose(): void {
    if (this.#generation === null) return;
    this.#generation = null;
    if (this.#hasLock) this.#file?.exec('ROLLBACK');
    this.#seen = { claim: null, beat: 0, at: 0, silentMs: 0 };
    this.#options.lost();
    this.#questions.answer(false);
  }

  get #hasLock(): boolean {
    return this.#file?.inTransaction ?? false;
  }

  /** Whatever stands against it, it is looked at again: nobody is there to be told. */
  async #lookAgain(): Promise<void> {
    await this.#look().catch(() => undefined);
  }

  async #look(): Promise<void> {
    try {
      await (this.#generation === null ? this.#standBy() : this.#renew(this.#generation));
    } finally {
      const { lookMs, beatMs } = this.#times;
      const ms = this.#generation === null ? lookMs : beatMs;
      if (this.#file) this.#timer = setTimeout(() => void this.#lookAgain(), ms);
    }
  }

  async #standBy(): Promise<void> {
    const claim = this.#claims.read();
    if (claim?.isLocked !== false && this.#tryLock()) {
      await this.#takeBy(() => this.#claims.takeByLock());
      if (this.#generation === null && this.#hasLock) this.#file?.exec('ROLLBACK');
    } else if (this.#isSilent(claim) && claim) await this.#takeBy(() => this.#claims.takeFrom(claim.generation));
  }

  /** False where another process has it. @throws an error of SQLite */
  #tryLock(): boolean {
    try {
      this.#file?.exec('BEGIN EXCLUSIVE');
      return this.#file !== null;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  async #takeBy(take: () => Promise<number | null>): Promise<void> {
    const at = performance.now();
    const generation = await take();
    if (generation === null || !this.#file) return;
    this.#generation = generation;
    this.#beat(at);
    try {
      this.#options.taken();
    } catch (error) {
      this.#generation = null;
      throw error;
    }
  }

  /** Counts by looks: neither a clock that is set nor a time in which all of the machine stood makes a silence. */
  #isSilent(claim: Claim | null): boolean {
    const at = performance.now();
    const beat = statSync(this.#path).mtimeMs;
    const last = this.#seen;
    const isSame = beat === last.beat && claim?.generation === last.claim?.generation;
    const silentMs = isSame ? last.silentMs + Math.min(at - last.at, MOST_A_LOOK) : 0;
    this.#seen = { claim, beat, at, silentMs };
    return silentMs >= this.#times.silentMs;
  }

  /** The time from which on it holds is the one before: this process may stand still in the middle. */
  async #renew(generation: number): Promise<void> {
    const at = performance.now();
    const { holds } = this;
    const current = holds ? generation : await this.#claims.confirm(generation);
    if (!this.#file || this.#generation !== generation) return;
    if (current === null) return this.#lose();
    this.#generation = current;
    this.#beat(at);
    if (!holds && this.holds) this.#options.regained();
    if (!this.#hasLock && this.#tryLock() && (await this.#claims.lock(current)) === null) this.#lose();
  }

  #beat(at: number): void {
    const now = new Date();
    utimesSync(this.#path, now, now);
    this.#beatAt = at;
    if (this.holds) this.#questions.answer(true);
  }
}
