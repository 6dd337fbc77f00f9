/**
 * The read model's file: one that can be made anew from the store at any time (disposable-file.ts), read-model.2.sqlite for
 * the second process on a folder. Damage is found at the start, where all of it is checked; where it comes up later, the
 * file is thrown away when the process stops.
 */
import { type ProjectionState, type ProjectionStates, StatesDamaged } from '../../ports/projection-states.js';
import { type DisposableFile, type FileKind, isDamage, openDisposable, throwAway } from './disposable-file.js';
import type { SqliteFile } from './open-file.js';

const PAGE = 1_000;

const SCHEMA = `
CREATE TABLE projections (name TEXT PRIMARY KEY, version TEXT NOT NULL, position TEXT) WITHOUT ROWID;
CREATE TABLE states (
  projection TEXT NOT NULL,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (projection, stream)
);
`;

/** "awrm" */
const KIND: FileKind = { name: 'read-model', applicationId: 0x6177726d, shape: 1, schema: SCHEMA, isChecked: true };

/**
 * @param onDamaged told the name of a file that had to be thrown away
 * @throws DataDirUnusable
 */
export function openProjectionStates(dataDir: string, onDamaged: (file: string) => void): ProjectionStates {
  const disposable = openDisposable(dataDir, KIND, onDamaged);
  // It may lose its last commits with the power, and then folds them again; it is never damaged by that.
  disposable.file.pragma('synchronous = NORMAL');
  return new SqliteProjectionStates(disposable);
}

class SqliteProjectionStates implements ProjectionStates {
  readonly #disposable: DisposableFile;
  readonly #sql: ReturnType<typeof statements>;
  #damaged = false;

  constructor(disposable: DisposableFile) {
    this.#disposable = disposable;
    this.#sql = statements(disposable.file);
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
    const { file } = this.#disposable;
    if (!file.open) return;
    if (this.#damaged) throwAway(this.#disposable);
    else file.close();
  }

  #use<T>(work: () => T): T {
    return this.#guarded(() => this.#disposable.file.transaction(work)());
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
