/**
 * Group commit: all writes of one turn of the event loop are one transaction, so concurrent writers share one fsync. Each has
 * its own savepoint, so a writer that throws is rolled back alone. If the transaction itself fails, all its writers fail, and
 * the next turn starts fresh.
 *
 *   idle -> scheduled (for the next turn) -> committed
 *                    \-> waiting (another process writes: polled by timer, never by blocking) -> committed
 */
import { FileClosed, isBusy, type SqliteFile, type SqliteStatement } from './open-file.js';

interface Job {
  readonly work: () => unknown;
  readonly touches: string;
  readonly rows: () => number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Rows, or slightly more. Keeps a turn of the event loop short. */
const MOST_AT_ONCE = 1_000;
const BUSY_PAUSE_MS = 5;
/** How long another process may hold the write lock before waiting writes are rejected. */
const BUSY_LIMIT_MS = 10_000;

const ONE = () => 1;

export class GroupCommit {
  readonly #file: SqliteFile;
  readonly #committed: (touched: ReadonlySet<string>) => void;
  readonly #busyLimitMs: number;
  readonly #savepoint: Readonly<Record<'begin' | 'release', SqliteStatement>>;
  #queue: Job[] = [];
  #turn: NodeJS.Immediate | null = null;
  #waiting: NodeJS.Timeout | null = null;
  #busySince: number | null = null;
  #closed = false;

  constructor(
    file: SqliteFile,
    committed: (touched: ReadonlySet<string>) => void,
    busyLimitMs: number = BUSY_LIMIT_MS,
  ) {
    this.#busyLimitMs = busyLimitMs;
    this.#file = file;
    this.#committed = committed;
    this.#savepoint = { begin: file.prepare('SAVEPOINT job'), release: file.prepare('RELEASE job') };
  }

  /** Resolves with the result of `work` once it is durable. `touches` names what it changes, for listeners. */
  write<T>(touches: string, work: () => T, rows: () => number = ONE): Promise<T> {
    if (this.#closed) return Promise.reject(new FileClosed('the store file is closed'));
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, touches, rows, resolve, reject });
      this.#schedule();
    });
  }

  /** Writes the queue, or rejects it if that isn't possible at once. */
  close(): void {
    this.#closed = true;
    if (this.#turn) clearImmediate(this.#turn);
    if (this.#waiting) clearTimeout(this.#waiting);
    while (this.#queue.length > 0) this.#flush();
  }

  #schedule(): void {
    if (this.#waiting || this.#turn || this.#closed) return;
    this.#turn = setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#turn = null;
    this.#waiting = null;
    if (!this.#begun()) return;
    const jobs = this.#queue.splice(0, this.#howMany());
    try {
      const touched = new Set<string>();
      for (const settle of this.#transaction(jobs, touched)) settle();
      if (touched.size > 0) this.#committed(touched);
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    }
    if (this.#queue.length > 0) this.#schedule();
  }

  /** The number of jobs for one transaction. */
  #howMany(): number {
    let rows = 0;
    const end = this.#queue.findIndex((job) => {
      const isFull = rows >= MOST_AT_ONCE;
      rows += job.rows();
      return isFull;
    });
    return end < 0 ? this.#queue.length : end;
  }

  /** False if the write lock isn't available now: the queue waits, or has been rejected. */
  #begun(): boolean {
    try {
      this.#file.exec('BEGIN IMMEDIATE');
      this.#busySince = null;
      return true;
    } catch (error) {
      this.#busySince ??= performance.now();
      const patient = !this.#closed && performance.now() - this.#busySince < this.#busyLimitMs;
      if (isBusy(error) && patient) this.#waiting = setTimeout(() => this.#flush(), BUSY_PAUSE_MS);
      else this.#rejectAll(error);
      return false;
    }
  }

  #rejectAll(error: unknown): void {
    this.#busySince = null;
    for (const { reject } of this.#queue.splice(0)) reject(error);
  }

  /** @param touched gets what the committed jobs change @returns settles each job */
  #transaction(jobs: readonly Job[], touched: Set<string>): (() => void)[] {
    try {
      const settles = jobs.map((job) => this.#run(job, touched));
      this.#file.exec('COMMIT');
      return settles;
    } catch (error) {
      if (this.#file.inTransaction) this.#file.exec('ROLLBACK');
      throw error;
    }
  }

  /** @throws if the failure ended the whole transaction, as a full disk does */
  #run(job: Job, touched: Set<string>): () => void {
    this.#savepoint.begin.run();
    try {
      const value = job.work();
      this.#savepoint.release.run();
      touched.add(job.touches);
      return () => job.resolve(value as never);
    } catch (error) {
      if (!this.#file.inTransaction) throw error;
      this.#file.exec('ROLLBACK TO job; RELEASE job');
      return () => job.reject(error);
    }
  }
}
