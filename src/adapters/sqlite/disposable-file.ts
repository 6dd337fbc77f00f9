/**
 * A file that can be rebuilt from another source at any time. It belongs to one process, by an exclusive lock that the
 * operating system releases when the process dies: a second process on the same folder creates another file, with a number
 * in its name. A damaged or foreign file is deleted.
 *
 * Processes take files one after the other, behind the door: the write lock of an empty file. SQLite's lock of the file itself
 * may refuse both of two processes that try at the same moment (each still reads what the other wants alone).
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileSchema, makeSchema, schemaFound } from './file-schema.js';
import { isBusy, isCorrupt, openFile, type SqliteFile } from './open-file.js';
import { DataDirUnusable, inDataDir } from './store-file.js';

const MOST_PROCESSES = 16;

export interface FileKind extends FileSchema {
  /** The file's name without extension. */
  readonly name: string;
  /** Whether opening checks the whole file for damage: slow for a large one. */
  readonly isChecked: boolean;
}

export interface DisposableFile {
  readonly file: SqliteFile;
  readonly path: string;
}

/** The file exists, and is damaged or not one of ours. */
class Unsound extends Error {
  override readonly name = 'Unsound';
  readonly code = 'UNSOUND';
}

/** @param onDamaged called with the name of a file that had to be deleted @throws DataDirUnusable */
export function openDisposable(dataDir: string, kind: FileKind, onDamaged: (file: string) => void): DisposableFile {
  return behindDoor(dataDir, kind, () => {
    for (const name of namesOf(kind)) {
      const path = join(dataDir, name);
      const file = openOwn(path, kind, () => onDamaged(name));
      if (file) return { file, path };
    }
    throw new Error(`more than ${MOST_PROCESSES} processes share DATA_DIR`);
  });
}

/** After the busy timeout a process passes without the lock: the one behind the door was stopped, or checks a large file. */
function behindDoor<T>(dataDir: string, { name }: FileKind, work: () => T): T {
  const door = inDataDir(() => openFile(join(dataDir, `${name}.lock`)));
  try {
    inDataDir(() => lockOrWait(door));
    return work();
  } finally {
    door.close();
  }
}

function lockOrWait(door: SqliteFile): void {
  try {
    door.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
}

/** A process is using the file. */
export class FileInUse extends Error {
  override readonly name = 'FileInUse';
  readonly code = 'FILE_IN_USE';
  constructor(readonly file: string) {
    super(`${file} is in use`);
  }
}

/** Deletes the files of all processes; none if any process is using one. @throws FileInUse, DataDirUnusable */
export function removeDisposable(dataDir: string, kind: FileKind): void {
  behindDoor(dataDir, kind, () => removeAll(dataDir, kind));
}

function removeAll(dataDir: string, kind: FileKind): void {
  const held: DisposableFile[] = [];
  try {
    for (const name of namesOf(kind).filter((one) => existsSync(join(dataDir, one)))) {
      const path = join(dataDir, name);
      const file = openOwn(path, kind, () => undefined);
      if (!file) throw new FileInUse(name);
      held.push({ file, path });
    }
    for (const one of held.splice(0)) throwAway(one);
  } finally {
    for (const { file } of held) file.close();
  }
}

/** Closes and deletes the file. */
export function throwAway({ file, path }: DisposableFile): void {
  file.close();
  remove(path);
}

export function isDamage(error: unknown): boolean {
  return error instanceof Unsound || isCorrupt(error);
}

function namesOf({ name }: FileKind): readonly string[] {
  return Array.from({ length: MOST_PROCESSES }, (_, index) =>
    index === 0 ? `${name}.sqlite` : `${name}.${index + 1}.sqlite`,
  );
}

/** Null if another process has the file. */
function openOwn(path: string, kind: FileKind, onDamaged: () => void): SqliteFile | null {
  try {
    return locked(path, kind);
  } catch (error) {
    if (isBusy(error)) return null;
    if (!isDamage(error)) throw new DataDirUnusable(error);
    onDamaged();
    remove(path);
    return locked(path, kind);
  }
}

function locked(path: string, kind: FileKind): SqliteFile {
  const file = openFile(path, 0);
  try {
    file.pragma('locking_mode = EXCLUSIVE');
    file.transaction(() => checkOrCreate(file, kind)).exclusive();
    // Only now: a link may point to a file of others, which the pragma would change.
    file.pragma('journal_mode = WAL');
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** A file of another schema version, earlier or later, is deleted: it can be rebuilt. */
function checkOrCreate(file: SqliteFile, kind: FileKind): void {
  const found = schemaFound(file, kind);
  if (found === 'empty') makeSchema(file, kind);
  else if (found !== 'same') throw new Unsound('the file belongs to something else');
  else if (kind.isChecked && file.pragma('quick_check(1)', { simple: true }) !== 'ok') {
    throw new Unsound('the file is damaged');
  }
}

function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}
