/**
 * Which process has a group, in store.sqlite. Each claim increments the generation and invalidates earlier ones: a fencing
 * token that depends on no clock. Each change is one transaction, so of two competing processes exactly one wins.
 */
import type { StoreFile } from './store-file.js';

export interface Claim {
  readonly generation: number;
  /**
   * Whether the group's holder also has its lock file. If not, acquiring the lock file doesn't prove that the holder ended.
   */
  readonly isLocked: boolean;
}

export class GroupClaims {
  readonly #store: StoreFile;
  readonly #group: string;
  readonly #sql: ReturnType<typeof statements>;

  constructor(store: StoreFile, group: string) {
    this.#store = store;
    this.#group = group;
    this.#sql = statements(store);
  }

  /** @throws SQLite's error */
  read(): Claim | null {
    const row = this.#sql.read.get(this.#group) as { generation: number; is_locked: number } | undefined;
    return row ? { generation: row.generation, isLocked: row.is_locked === 1 } : null;
  }

  /**
   * Called by the process that has the lock file.
   * @returns the generation; null if a process without the lock file has the group
   */
  takeByLock(): Promise<number | null> {
    return this.#write(() => this.#sql.takeByLock.get(this.#group));
  }

  /** From a holder that has been silent since this generation. @returns null if the generation has changed */
  takeFrom(generation: number): Promise<number | null> {
    return this.#write(() => this.#sql.takeFrom.get(this.#group, generation));
  }

  /** Renews the claim after a silence. @returns null if another process took the group meanwhile */
  confirm(generation: number): Promise<number | null> {
    return this.#write(() => this.#sql.confirm.get(this.#group, generation));
  }

  /**
   * The process that took the group from a silent holder now has the lock file.
   * @returns null if another process took the group meanwhile
   */
  lock(generation: number): Promise<number | null> {
    return this.#write(() => this.#sql.lock.get(this.#group, generation));
  }

  #write(work: () => unknown): Promise<number | null> {
    return this.#store.write('groups', () => (work() as number | undefined) ?? null);
  }
}

function statements({ file }: StoreFile) {
  const returned = (sql: string) => file.prepare(`${sql} RETURNING generation`).pluck();
  const own = 'WHERE group_name = ? AND generation = ?';
  return {
    read: file.prepare('SELECT generation, is_locked FROM group_claims WHERE group_name = ?'),
    takeByLock: returned(
      `INSERT INTO group_claims (group_name, generation, is_locked) VALUES (?, 1, 1)
       ON CONFLICT (group_name) DO UPDATE SET generation = generation + 1 WHERE is_locked = 1`,
    ),
    takeFrom: returned(`UPDATE group_claims SET generation = generation + 1, is_locked = 0 ${own}`),
    confirm: returned(`UPDATE group_claims SET generation = generation + 1 ${own}`),
    lock: returned(`UPDATE group_claims SET is_locked = 1 ${own}`),
  };
}
