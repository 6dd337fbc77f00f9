/**
 * The read model's file. It belongs to one process, by an exclusive lock that the operating system lets go of when the
 * process dies: a second process on the same folder (the other role) makes one of its own, read-model.2.sqlite. It can
 * be made anew from the store at any time, so one that is damaged, or is something else, is thrown away: at the start,
 * where all of it is checked, or when the process stops because damage came up later.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type ProjectionState, type ProjectionStates, StatesDamaged } from '../../ports/projection-states.js';
import { codeOf, isBusy, openFile, type SqliteFile } from './open-file.js';
import { DataDirUnusable } from './store-file.js';

const MOST_PROCESSES = 16;
const PAGE = 1_000;
/** "awrm" and the shape of the tables, both in the file's header: what says that it is ours. */
const APPLICATION_ID = 0x6177726d;
const SHAPE = 1;

const SCHEMA = `
CREATE TABLE projections (name TEXT PRIMARY KEY, version TEXT NOT NULL, position TEXT) WITHOUT ROWID;
CREATE TABLE states (
  projection TEXT NOT NULL,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (projection, stream)
);
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SHAPE};
`;

/**
 * @param onDamaged told the name of a file that had to be thrown away
 * @throws DataDirUnusable
 */
export function openProjectionStates(dataDir: string, onDamaged: (file: string) => void): ProjectionStates {
  for (let number = 1; number <= MOST_PROCESSES; number += 1) {
    const name = number === 1 ? 'read-model.sqlite' : `read-model.${number}.sqlite`;
    const path = join(dataDir, name);
    const file = openOwn(path, () => onDamaged(name));
    if (file) return new SqliteProjectionStates(file, path);
  }
  throw new Error(`more than ${MOST_PROCESSES} processes share DATA_DIR`);
}

/** Null where another process has it. */
function openOwn(path: string, onDamaged: () => void): SqliteFile | null {
  try {
    return locked(path);
  } catch (error) {
    if (isBusy(error)) return null;
    if (!isDamage(error)) throw new DataDirUnusable(error);
    onDamaged();
    remove(path);
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
    file.transaction(() => checkOrCreate(file)).exclusive();
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** @throws StatesDamaged */
function checkOrCreate(file: SqliteFile): void {
  const read = (pragma: string) => file.pragma(pragma, { simple: true });
  if (read('application_id') === 0 && file.prepare('SELECT count(*) FROM sqlite_master').pluck().get() === 0) {
    file.exec(SCHEMA);
    return;
  }
  if (read('application_id') !== APPLICATION_ID || read('user_version') !== SHAPE) {
    throw new StatesDamaged('the read model file is of something else');
  }
  if (read('quick_check(1)') !== 'ok') throw new StatesDamaged('the read model file is damaged');
}

function isDamage(error: unknown): boolean {
  return error instanceof StatesDamaged || /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

class SqliteProjectionStates implements ProjectionStates {
  readonly #file: SqliteFile;
  readonly #path: string;
  readonly #sql: ReturnType<typeof statements>;
  #damaged = false;

  constructor(file: SqliteFile, path: string) {
    this.#file = file;
    this.#path = path;
    this.#sql = statements(file);
  }

  open(projection: string, version: string): string | null {
    return this.#use(() => {
      const found = this.#sql.find.get(projection) as { version: string; position: string | null } | undefined;
      if (found?.version === version) return found.position;
      this.#sql.forget.run(projection);
      this.#sql.begin.run(projection, version);
      return null;
    });
  }

  load(projection: string, stream: string): ProjectionState | undefined {
    return this.#guarded(() => this.#sql.load.get(projection, stream) as ProjectionState | undefined);
  }

  /** Reads page by page: a statement left open would block every other use of the file. */
  *all(projection: string): Iterable<readonly [stream: string, state: ProjectionState]> {
    let rows: (ProjectionState & { stream: string })[];
    let from = '';
    do {
      rows = this.#guarded(() => this.#sql.page.all(projection, from, PAGE) as typeof rows);
      for (const { stream, revision, json } of rows) yield [stream, { revision, json }];
      // The first name behind it.
      from = `${rows.at(-1)?.stream}\0`;
    } while (rows.length === PAGE);
  }

  commit(projection: string, states: ReadonlyMap<string, ProjectionState>, position: string): void {
    this.#use(() => {
      for (const [stream, { revision, json }] of states) this.#sql.save.run(projection, stream, revision, json);
      this.#sql.moveTo.run(position, projection);
    });
  }

  reset(projection: string): void {
    this.#use(() => {
      this.#sql.forget.run(projection);
      this.#sql.moveTo.run(null, projection);
    });
  }

  close(): void {
    if (!this.#file.open) return;
    this.#file.close();
    if (this.#damaged) remove(this.#path);
  }

  #use<T>(work: () => T): T {
    return this.#guarded(() => this.#file.transaction(work)());
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!isDamage(cause)) throw cause;
      this.#damaged = true;
      throw new StatesDamaged('the read model file is damaged', { cause });
    }
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
    page: file.prepare(
      'SELECT stream, revision, state AS json FROM states WHERE projection = ? AND stream >= ? ORDER BY stream LIMIT ?',
    ),
    save: file.prepare(
      `INSERT INTO states (projection, stream, revision, state) VALUES (?, ?, ?, ?)
       ON CONFLICT (projection, stream) DO UPDATE SET revision = excluded.revision, state = excluded.state`,
    ),
    moveTo: file.prepare('UPDATE projections SET position = ? WHERE name = ?'),
  };
}
