/**
 * The read model's file. It belongs to one process, by an exclusive lock that the operating system lets go of when the
 * process dies: a second process on the same folder (the other role) makes one of its own, read-model.2.sqlite. It can
 * be made anew from the store at any time, so one that can't be read is thrown away.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectionState, ProjectionStates } from '../../ports/projection-states.js';
import { codeOf, isBusy, openFile, type SqliteFile } from './open-file.js';

const MOST_PROCESSES = 16;
const DAMAGED = new Set(['SQLITE_CORRUPT', 'SQLITE_NOTADB']);

const SCHEMA = `
CREATE TABLE IF NOT EXISTS projections (name TEXT PRIMARY KEY, version TEXT NOT NULL, position TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS states (
  projection TEXT NOT NULL,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (projection, stream)
);
`;

/** @param onDamaged told the name of a file that had to be thrown away */
export function openProjectionStates(dataDir: string, onDamaged: (file: string) => void): ProjectionStates {
  for (let number = 1; number <= MOST_PROCESSES; number += 1) {
    const name = number === 1 ? 'read-model.sqlite' : `read-model.${number}.sqlite`;
    const file = openOwn(join(dataDir, name), () => onDamaged(name));
    if (file) return new SqliteProjectionStates(file);
  }
  throw new Error(`more than ${MOST_PROCESSES} processes share DATA_DIR`);
}

/** Null where another process has it. */
function openOwn(path: string, onDamaged: () => void): SqliteFile | null {
  try {
    return locked(path);
  } catch (error) {
    if (isBusy(error)) return null;
    if (!DAMAGED.has(codeOf(error))) throw error;
    onDamaged();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    return locked(path);
  }
}

function locked(path: string): SqliteFile {
  const file = openFile(path, 0);
  try {
    file.pragma('locking_mode = EXCLUSIVE');
    file.pragma('journal_mode = WAL');
    // It may lose its last commits with the power, and then folds them again; it is never damaged by that.
    file.pragma('synchronous = NORMAL');
    file.transaction(() => file.exec(SCHEMA)).exclusive();
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

class SqliteProjectionStates implements ProjectionStates {
  readonly #file: SqliteFile;
  readonly #sql: ReturnType<typeof statements>;

  constructor(file: SqliteFile) {
    this.#file = file;
    this.#sql = statements(file);
  }

  open(projection: string, version: string): string | null {
    const found = this.#sql.find.get(projection) as { version: string; position: string | null } | undefined;
    if (found?.version === version) return found.position;
    this.#file.transaction(() => {
      this.#sql.forget.run(projection);
      this.#sql.begin.run(projection, version);
    })();
    return null;
  }

  load(projection: string, stream: string): ProjectionState | undefined {
    return this.#sql.load.get(projection, stream) as ProjectionState | undefined;
  }

  /** Reads all before it gives the first: a statement left open would block every other use of the file. */
  all(projection: string): Iterable<readonly [stream: string, state: ProjectionState]> {
    const rows = this.#sql.all.all(projection) as (ProjectionState & { stream: string })[];
    return rows.map(({ stream, revision, json }) => [stream, { revision, json }] as const);
  }

  commit(projection: string, states: ReadonlyMap<string, ProjectionState>, position: string): void {
    this.#file.transaction(() => {
      for (const [stream, { revision, json }] of states) this.#sql.save.run(projection, stream, revision, json);
      this.#sql.moveTo.run(position, projection);
    })();
  }

  reset(projection: string): void {
    this.#file.transaction(() => {
      this.#sql.forget.run(projection);
      this.#sql.moveTo.run(null, projection);
    })();
  }

  close(): void {
    this.#file.close();
  }
}

function statements(file: SqliteFile) {
  return {
    find: file.prepare('SELECT version, position FROM projections WHERE name = ?'),
    begin: file.prepare(
      `INSERT INTO projections (name, version, position) VALUES (?, ?, NULL)
       ON CONFLICT (name) DO UPDATE SET version = excluded.version, position = NULL`,
    ),
    forget: file.prepare('DELETE FROM states WHERE projection = ?'),
    load: file.prepare('SELECT revision, state AS json FROM states WHERE projection = ? AND stream = ?'),
    all: file.prepare('SELECT stream, revision, state AS json FROM states WHERE projection = ? ORDER BY stream'),
    save: file.prepare(
      `INSERT INTO states (projection, stream, revision, state) VALUES (?, ?, ?, ?)
       ON CONFLICT (projection, stream) DO UPDATE SET revision = excluded.revision, state = excluded.state`,
    ),
    moveTo: file.prepare('UPDATE projections SET position = ? WHERE name = ?'),
  };
}
