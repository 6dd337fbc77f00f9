/** The read model's file: can be rebuilt from the store at any time (disposable-file.ts). */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type ProjectionState,
  type ProjectionStates,
  type SetAside,
  type StateChanges,
  StatesDamaged,
  type StatesOrigin,
} from '../../ports/projection-states.js';
import { type DisposableFile, type FileKind, isDamage, openDisposable, removeIfCorrupt } from './disposable-file.js';
import { isBusy, openExisting, type SqliteFile, schemaFound } from './open-file.js';

/** A state may have 1 MiB. */
const PAGE = 100;
/** Keys that one call deletes: one call per turn of the event loop. */
const KEYS_AT_ONCE = 10_000;

const SCHEMA = `
CREATE TABLE origin (version TEXT NOT NULL, history TEXT NOT NULL, position TEXT);
CREATE TABLE states (stream TEXT PRIMARY KEY, revision INTEGER NOT NULL, event_id TEXT NOT NULL, state TEXT NOT NULL);
CREATE TABLE set_aside (stream TEXT PRIMARY KEY, why TEXT NOT NULL);
-- In the order in which they came, which is nearly that of time: what is old stands in front, without an index of its own.
-- Measured, 100,000 random keys, 8 a commit: 32 us each, 45 as a table by stream and key with an index by time.
CREATE TABLE keys (
  id INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  key TEXT NOT NULL,
  at INTEGER NOT NULL,
  used TEXT NOT NULL,
  UNIQUE (stream, key)
);
`;

/** "awrm" */
export const READ_MODEL: FileKind = {
  name: 'read-model',
  applicationId: 0x6177726d,
  shape: 5,
  schema: SCHEMA,
};

/** Call before opening it: deletes a corrupt read model. @param onDamaged called with its name @throws DataDirUnusable */
export function removeCorruptStates(dataDir: string, onDamaged: (file: string) => void): Promise<void> {
  return removeIfCorrupt(dataDir, READ_MODEL, onDamaged);
}

/** @param onDamaged called with the name of a file that had to be deleted @throws DataDirUnusable */
export function openProjectionStates(dataDir: string, onDamaged: (file: string) => void): ProjectionStates {
  return openDisposable(dataDir, READ_MODEL, onDamaged, (opened) => new SqliteProjectionStates(opened));
}

/** Of a read model that no process uses: null if there is none, or it is in use, or from another release. */
export function readModelOrigin(
  dataDir: string,
): { readonly history: string; readonly position: string | null } | null {
  const path = join(dataDir, `${READ_MODEL.name}.sqlite`);
  if (!existsSync(path)) return null;
  // Doesn't wait: a service holds the file for as long as it runs.
  const file = openExisting(path, 0);
  try {
    if (schemaFound(file, READ_MODEL) !== 'same') return null;
    return (file.prepare('SELECT history, position FROM origin').get() ?? null) as ReturnType<typeof readModelOrigin>;
  } catch (error) {
    if (isBusy(error) || isDamage(error)) return null;
    throw error;
  } finally {
    file.close();
  }
}

class SqliteProjectionStates implements ProjectionStates {
  readonly #disposable: DisposableFile;
  readonly #sql: ReturnType<typeof statements>;
  #damaged = false;

  constructor(disposable: DisposableFile) {
    this.#disposable = disposable;
    this.#sql = statements(disposable.file);
  }

  get history(): string | null {
    return this.#guarded(() => this.#origin()?.history ?? null);
  }

  open({ version, history }: StatesOrigin): string | null {
    return this.#use(() => {
      const found = this.#origin();
      if (found?.version === version && found.history === history) return found.position;
      for (const forget of this.#sql.forgetAll) forget.run();
      this.#sql.begin.run(version, history);
      return null;
    });
  }

  load(stream: string): ProjectionState | undefined {
    return this.#guarded(() => this.#sql.load.get(stream) as ProjectionState | undefined);
  }

  /** Reads page by page: an open statement would block every other use of the file. */
  *all(): Iterable<readonly [stream: string, state: ProjectionState]> {
    let rows: (ProjectionState & { stream: string })[];
    let from = '';
    do {
      rows = this.#guarded(() => this.#sql.page.all(from, PAGE) as typeof rows);
      for (const { stream, revision, eventId, json } of rows) yield [stream, { revision, eventId, json }];
      // The first name after the last one.
      from = `${rows.at(-1)?.stream}\0`;
    } while (rows.length === PAGE);
  }

  key(stream: string, key: string): string | undefined {
    return this.#guarded(() => this.#sql.key.get(stream, key) as string | undefined);
  }

  setAside(): ReadonlyMap<string, SetAside> {
    const rows = this.#guarded(() => this.#sql.setAside.all() as (SetAside & { stream: string })[]);
    return new Map(rows.map(({ stream, ...event }) => [stream, event]));
  }

  commit({ states, keys, setAside, position }: StateChanges): void {
    this.#use(() => {
      for (const [stream, event] of setAside) this.#setAside(stream, event);
      for (const [stream, { revision, eventId, json }] of states) this.#sql.save.run(stream, revision, eventId, json);
      for (const { stream, key, at, use } of keys) this.#sql.keep.run(stream, key, at, use);
      this.#sql.moveTo.run(position);
    });
  }

  forgetKeys(before: number): void {
    this.#use(() => this.#sql.forgetKeys.run(KEYS_AT_ONCE, before));
  }

  unsound(cause: unknown): StatesDamaged {
    this.#damaged = true;
    const name = basename(this.#disposable.file.name);
    return new StatesDamaged(`${name} is damaged: it is thrown away, and the next start makes it again`, { cause });
  }

  close(): void {
    const { file, discard } = this.#disposable;
    if (!file.open) return;
    if (this.#damaged) discard();
    else file.close();
  }

  #setAside(stream: string, event: SetAside | null): void {
    if (event === null) this.#sql.foldAgain.run(stream);
    else this.#sql.putAside.run(stream, event.why);
  }

  #origin(): (StatesOrigin & { position: string | null }) | undefined {
    return this.#sql.origin.get() as (StatesOrigin & { position: string | null }) | undefined;
  }

  #use<T>(work: () => T): T {
    return this.#guarded(() => this.#disposable.file.transaction(work)());
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw isDamage(cause) ? this.unsound(cause) : cause;
    }
  }
}

function statements(file: SqliteFile) {
  return {
    origin: file.prepare('SELECT version, history, position FROM origin'),
    begin: file.prepare('INSERT INTO origin (version, history, position) VALUES (?, ?, NULL)'),
    moveTo: file.prepare('UPDATE origin SET position = ?'),
    forgetAll: ['origin', 'states', 'keys', 'set_aside'].map((table) => file.prepare(`DELETE FROM ${table}`)),
    load: file.prepare('SELECT revision, event_id AS eventId, state AS json FROM states WHERE stream = ?'),
    page: file.prepare(
      'SELECT stream, revision, event_id AS eventId, state AS json FROM states WHERE stream >= ? ORDER BY stream LIMIT +?',
    ),
    save: file.prepare(
      `INSERT INTO states (stream, revision, event_id, state) VALUES (?, ?, ?, ?)
       ON CONFLICT (stream) DO UPDATE
       SET revision = excluded.revision, event_id = excluded.event_id, state = excluded.state`,
    ),
    setAside: file.prepare('SELECT stream, why FROM set_aside ORDER BY stream'),
    putAside: file.prepare('INSERT OR REPLACE INTO set_aside (stream, why) VALUES (?, ?)'),
    foldAgain: file.prepare('DELETE FROM set_aside WHERE stream = ?'),
    key: file.prepare('SELECT used FROM keys WHERE stream = ? AND key = ?').pluck(),
    keep: file.prepare('INSERT OR REPLACE INTO keys (stream, key, at, used) VALUES (?, ?, ?, ?)'),
    forgetKeys: file.prepare(
      'DELETE FROM keys WHERE id IN (SELECT id FROM (SELECT id, at FROM keys ORDER BY id LIMIT +?) WHERE at < ?)',
    ),
  };
}
