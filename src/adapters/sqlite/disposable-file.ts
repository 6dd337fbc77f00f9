/** A file that can be rebuilt from another source at any time. Only `serve` opens it, which has DATA_DIR alone. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isIntact } from './intact-file.js';
import { type FileSchema, isCorrupt, makeSchema, openFile, type SqliteFile, schemaFound } from './open-file.js';
import { inDataDir } from './store-file.js';

export interface FileKind extends FileSchema {
  readonly name: string;
}

/** Gets the name of a file that was damaged, and is deleted. */
export type OnDamage = (file: string) => void;

export interface DisposableFile {
  readonly file: SqliteFile;
  /** Closes and deletes it. */
  readonly discard: () => void;
}

class Unsound extends Error {
  override readonly name = 'Unsound';
  readonly code = 'UNSOUND';
}

/** @param use may come upon damage too @throws DataDirUnusable */
export function openDisposable<T>(
  dataDir: string,
  kind: FileKind,
  onDamaged: OnDamage,
  use: (opened: DisposableFile) => T,
): T {
  const name = `${kind.name}.sqlite`;
  const path = join(dataDir, name);
  return inDataDir(() => {
    try {
      return openOwn(path, kind, use);
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    onDamaged(name);
    remove(path);
    return openOwn(path, kind, use);
  });
}

/** Deletes the file if it is corrupt, before it is opened. @throws DataDirUnusable */
export async function removeIfCorrupt(dataDir: string, kind: FileKind, onDamaged: OnDamage): Promise<void> {
  const name = `${kind.name}.sqlite`;
  const path = join(dataDir, name);
  if (await isIntact(path)) return;
  onDamaged(name);
  inDataDir(() => remove(path));
}

/** A kind with its shape in the name of its file, so another shape's may stand beside it. */
export function named(kind: FileKind): FileKind {
  return { ...kind, name: `${kind.name}-${kind.shape}` };
}

/**
 * Opens the newest file of a former shape, if it can be asked: from the shape `since` on; empty, if it was damaged. All others
 * of other shapes are deleted. @throws DataDirUnusable
 */
export function openFormer<T>(
  dataDir: string,
  kind: FileKind,
  since: number,
  use: (opened: DisposableFile) => T,
): T | null {
  const shapeOf = (file: string) => Number(/-(\d+)\.sqlite$/.exec(file)?.[1] ?? 0);
  return inDataDir(() => {
    const all = existsSync(dataDir) ? readdirSync(dataDir) : [];
    const files = all.filter((file) => file.startsWith(kind.name) && file.endsWith('.sqlite'));
    const shape = Math.max(...files.map(shapeOf).filter((one) => one >= since && one < kind.shape));
    for (const file of files) if (![shape, kind.shape].includes(shapeOf(file))) remove(join(dataDir, file));
    return shape > 0 ? openDisposable(dataDir, named({ ...kind, shape }), () => undefined, use) : null;
  });
}

/** The service must be stopped. @throws DataDirUnusable */
export function removeDisposable(dataDir: string, { name }: FileKind): void {
  inDataDir(() => remove(join(dataDir, `${name}.sqlite`)));
}

export function isDamage(error: unknown): boolean {
  return error instanceof Unsound || isCorrupt(error);
}

/** Of pages, per file: better-sqlite3's default of 16 MiB fills and stays. What a transaction changes beyond that is written twice. */
const CACHE_KIB = 4_000;

/** Exclusive: SQLite needs no shared memory for a file that one process uses. */
function openOwn<T>(path: string, kind: FileKind, use: (opened: DisposableFile) => T): T {
  const file = openFile(path);
  try {
    file.pragma('locking_mode = EXCLUSIVE');
    file.transaction(() => checkOrCreate(file, kind)).exclusive();
    // Only now: a link may point to a file of others, which the pragma would change.
    file.pragma('journal_mode = WAL');
    file.pragma(`cache_size = ${-CACHE_KIB}`);
    // A power failure may lose the last transactions, with the positions that they reached; it never damages the file.
    file.pragma('synchronous = NORMAL');
    const discard = () => {
      file.close();
      remove(path);
    };
    return use({ file, discard });
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
}

function remove(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}
