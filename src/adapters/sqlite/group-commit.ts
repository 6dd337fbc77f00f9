/**
 * Group commit: what is written in one turn of the event loop is one transaction, so concurrent writers share one
 * fsync. A writer that throws is undone alone; where the transaction itself fails, all of it fails, and the next turn
 * begins afresh.
 */
import type { SqliteFile } from './open-file.js';

interface Job {
  readonly work: () => unknown;
  readonly touches: string;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** Keeps one turn of the event loop short. */
const MOST_AT_ONCE = 2_000;

export class GroupCommit {
  readonly #file: SqliteFile;
  readonly #committed: (touched: ReadonlySet<string>) => void;
  #queue: Job[] = [];
  #scheduled = false;

  constructor(file: SqliteFile, committed: (touched: ReadonlySet<string>) => void) {
    this.#file = file;
    this.#committed = committed;
  }

  /** Resolves with what `work` returned, once it is durable. `touches` names what it changes, for those who wait. */
  write<T>(touches: string, work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, touches, resolve, reject });
      this.#schedule();
    });
  }

  /** Writes what is queued, now. */
  flush(): void {
    this.#scheduled = false;
    const jobs = this.#queue.splice(0, MOST_AT_ONCE);
    if (this.#queue.length > 0) this.#schedule();
    if (jobs.length === 0) return;
    try {
      this.#settle(jobs, this.#transaction(jobs));
    } catch (error) {
      for (const { reject } of jobs) reject(error);
    }
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.flush());
  }

  #transaction(jobs: readonly Job[]): Outcome[] {
    this.#file.exec('BEGIN IMMEDIATE');
    try {
      const outcomes = jobs.map((job) => this.#run(job));
      this.#file.exec('COMMIT');
      return outcomes;
    } catch (error) {
      if (this.#file.inTransaction) this.#file.exec('ROLLBACK');
      throw error;
    }
  }

  /** @throws where the failure ended the whole transaction, as a full disk does */
  #run({ work }: Job): Outcome {
    this.#file.exec('SAVEPOINT job');
    try {
      const value = work();
      this.#file.exec('RELEASE job');
      return { ok: true, value };
    } catch (error) {
      if (!this.#file.inTransaction) throw error;
      this.#file.exec('ROLLBACK TO job; RELEASE job');
      return { ok: false, error };
    }
  }

  #settle(jobs: readonly Job[], outcomes: readonly Outcome[]): void {
    const touched = new Set<string>();
    jobs.forEach(({ touches, resolve, reject }, index) => {
      const outcome = outcomes[index];
      if (outcome?.ok) {
        touched.add(touches);
        resolve(outcome.value as never);
      } else reject(outcome?.error);
    });
    if (touched.size > 0) this.#committed(touched);
  }
}
