/**
 * Who has a group, in store.sqlite. Each time it is taken it has another generation, and whoever has an earlier one has
 * lost it: a fence that no clock moves. Each change is one transaction, so of two that want it one has it.
 */
import type { StoreFile } from './store-file.js';

export interface Claim {
  readonly generation: number;
  /** Whether who has it has the group's lock file too. If not, to get the lock file says nothing of its end. */
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

  /** By whoever has the lock file. @returns the generation; null where somebody without it has the group */
  takeByLock(): Promise<number | null> {
    return this.#write(() => this.#sql.takeByLock.get(this.#group));
  }

  /** From one that has been silent since it had this generation. @returns null where it has not */
  takeFrom(generation: number): Promise<number | null> {
    return this.#write(() => this.#sql.takeFrom.get(this.#group, generation));
  }

  /** Still here, after a silence. @returns null where another one took it meanwhile */
  confirm(generation: number): Promise<number | null> {
    return this.#write(() => this.#sql.confirm.get(this.#group, generation));
  }

  /** Who took it from a silent one has got the lock file by now. @returns null where another one took it meanwhile */
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
