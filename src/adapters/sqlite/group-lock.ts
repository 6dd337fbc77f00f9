/**
 * One consumer of a group works at a time, across all processes. Two things decide which one:
 *
 * - The lock: an open exclusive transaction on a separate file. The operating system releases it when the process dies, even
 *   by kill -9. The others check every 50 ms whether it is free.
 * - The heartbeat: the holder sets the file's time every second. A stopped process keeps the lock but sends no heartbeat.
 *   After SILENT_MS without one, by its own count of checks, another process takes the group without the lock.
 *
 *   waiting -> holding, with the lock             (it was free)
 *           -> holding, without it -> with it     (its holder was silent; the lock is acquired once released)
 *   holding -> lapsed (no own heartbeat for HOLDS_MS) -> holding      (nobody took the group meanwhile)
 *                                                     \-> waiting (another process did: releases the lock)
 *
 * HOLDS_MS is less than SILENT_MS: a process that wakes up after a silence starts nothing before it has checked. Checking
 * and taking both change the generation (group-claims.ts), so exactly one of the two wins, whatever clocks say; offsets are
 * committed only under the current generation. A merely slow process that loses the group only drops the lines that wait in it.
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
/** The longest silence that one check counts: a process that stalled itself saw nothing meanwhile. ms */
const MOST_A_LOOK = 500;

export interface GroupLockOptions {
  readonly group: string;
  /** @throws if the consumer can't start: retried */
  readonly taken: () => void;
  /** Another process has the group. */
  readonly lost: () => void;
  /** The lease holds again, after a time of doubt. */
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
  /** Null while waiting. */
  #generation: number | null = null;
  #beatAt = Number.NEGATIVE_INFINITY;
  #seen: Seen = { claim: null, beat: 0, at: 0, silentMs: 0 };
  #timer: NodeJS.Timeout | null = null;
  #failed = false;

  constructor(store: StoreFile, options: GroupLockOptions) {
    this.#path = join(store.dataDir, `group-${encodeURIComponent(options.group)}.lock`);
    this.#options = options;
    this.#times = options.times ?? TIMES;
    this.#claims = new GroupClaims(store, options.group);
  }

  get holds(): boolean {
    return this.#generation !== null && performance.now() - this.#beatAt < this.#times.holdsMs;
  }

  /** False while its checks fail, as on a full disk: then nobody may have the group. */
  get works(): boolean {
    return !this.#failed;
  }

  settled(): Promise<boolean> {
    return this.#questions.ask(this);
  }

  /** Whether no process has taken the group since, according to store.sqlite, within the calling transaction. */
  isCurrent(): boolean {
    return this.#generation !== null && this.#claims.read()?.generation === this.#generation;
  }

  /**
   * Fulfilled after the first check, which takes a free group; a busy one is taken once it is free.
   * @throws an error of fs, at once
   */
  acquire(): Promise<void> {
    this.#file = openFile(this.#path, 0);
    return this.#lookAgain();
  }

  /** Ends all waits for the answer. */
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

  /** Another source reports that another process has the group: the lease counts as unknown until checked. */
  doubt(): void {
    this.#beatAt = Number.NEGATIVE_INFINITY;
  }

  #lose(): void {
    if (this.#generation === null) return;
    this.#generation = null;
    this.#unlock();
    this.#seen = { claim: null, beat: 0, at: 0, silentMs: 0 };
    this.#options.lost();
    this.#questions.answer(false);
  }

  get #hasLock(): boolean {
    return this.#file?.inTransaction ?? false;
  }

  #unlock(): void {
    if (this.#hasLock) this.#file?.exec('ROLLBACK');
  }

  /** Any error leads to another check: no caller is there to receive it. */
  async #lookAgain(): Promise<void> {
    this.#failed = await this.#look().then(
      () => false,
      () => true,
    );
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
      try {
        await this.#takeBy(() => this.#claims.takeByLock());
      } finally {
        // Also where the claim could not be written: it would be in the way of everybody's next check, and of its own.
        if (this.#generation === null) this.#unlock();
      }
    } else if (this.#isSilent(claim) && claim) await this.#takeBy(() => this.#claims.takeFrom(claim.generation));
  }

  /** False if another process has the lock. @throws an error of SQLite */
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
    try {
      this.#beat(at);
      this.#options.taken();
    } catch (error) {
      this.#generation = null;
      throw error;
    }
  }

  /** Counts checks: neither a clock change nor a pause of the whole machine makes a silence. */
  #isSilent(claim: Claim | null): boolean {
    const at = performance.now();
    const beat = statSync(this.#path).mtimeMs;
    const last = this.#seen;
    const isSame = beat === last.beat && claim?.generation === last.claim?.generation;
    const silentMs = isSame ? last.silentMs + Math.min(at - last.at, MOST_A_LOOK) : 0;
    this.#seen = { claim, beat, at, silentMs };
    return silentMs >= this.#times.silentMs;
  }

  /** The lease runs from the time before the write: this process may stall in the middle. */
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
