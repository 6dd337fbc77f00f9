/**
 * Copies store.sqlite while it is in use. One read transaction is the snapshot: it blocks no writer (WAL), and without
 * it each write by another process would restart the copy. The -wal file can't be truncated meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, lstatSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { codeOf, mustBeTaken, openExisting, openFile, SchemaRefused } from './open-file.js';
import { STORE, soundness } from './store-file.js';

export interface BackupOptions {
  readonly dataDir: string;
  readonly target: string;
  readonly force: boolean;
  /** Called with the fraction copied, 0 to 1. */
  readonly progress: (share: number) => void;
  readonly signal: AbortSignal;
}

class BackupFailed extends Error {
  override readonly name = 'BackupFailed';
  readonly code = 'BACKUP_FAILED';
}

/** 4 MB: Ctrl-C takes effect between two steps. */
const PAGES_A_TURN = 1_000;

/** @returns the size of the copy, bytes @throws BackupFailed */
export async function backupStore(options: BackupOptions): Promise<number> {
  const source = join(options.dataDir, 'store.sqlite');
  const target = resolve(options.target);
  mayBegin(source, target, options.force);
  const part = `${target}.${randomBytes(4).toString('hex')}.part`;
  try {
    await copy(source, part, options);
    check(part);
    sync(part);
    if (options.force) renameSync(part, target);
    // Unlike a rename, a link never replaces a file, not even one created meanwhile.
    else linkSync(part, target);
    sync(dirname(target));
    return lstatSync(target).size;
  } catch (error) {
    throw failed(error);
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(part + suffix, { force: true });
  }
}

const foundAt = (path: string) => lstatSync(path, { throwIfNoEntry: false });

function mayBegin(source: string, target: string, force: boolean): void {
  if (!foundAt(source)) throw new BackupFailed('there is no store.sqlite in DATA_DIR yet');
  if (!foundAt(dirname(target))) throw new BackupFailed('the folder of the file does not exist');
  const found = foundAt(target);
  if (!found) return;
  if (!force) throw alreadyThere();
  // A key, a device or a link could not be had back. The store may be a link, or be mounted a second time.
  const { dev, ino } = lstatSync(realpathSync(source));
  const isStore = found.dev === dev && found.ino === ino;
  if (isStore || realpathSync(dirname(target)) === realpathSync(dirname(source)) || !found.isFile())
    throw new BackupFailed('--force replaces only a plain file outside of DATA_DIR');
}

async function copy(source: string, part: string, options: BackupOptions): Promise<void> {
  // Same mode as the store: readable by its owner only.
  openFile(part).close();
  const file = openExisting(source);
  try {
    file.exec('BEGIN');
    // This first read fixes the snapshot. A copy that this release can't open again would be no backup.
    mustBeTaken(file, STORE);
    await file.backup(part, {
      progress({ totalPages, remainingPages }) {
        if (options.signal.aborted) throw new BackupFailed('the backup was interrupted and left no file behind');
        options.progress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
        return PAGES_A_TURN;
      },
    });
  } finally {
    file.close();
  }
}

function check(part: string): void {
  const file = openExisting(part);
  try {
    // A single file: opening it as a store switches it back to WAL.
    file.pragma('journal_mode = DELETE');
    if (soundness(file) !== null) {
      throw new BackupFailed('the copy is damaged, and so is store.sqlite: check the disk');
    }
  } finally {
    file.close();
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function alreadyThere(): BackupFailed {
  return new BackupFailed('the file already exists: name another one, or pass --force to replace it');
}

function failed(error: unknown): BackupFailed {
  const code = codeOf(error);
  if (error instanceof BackupFailed) return error;
  if (error instanceof SchemaRefused) return new BackupFailed(error.message, { cause: error });
  if (code === 'EEXIST') return alreadyThere();
  const full = code === 'ENOSPC' || code === 'SQLITE_FULL' ? ': the disk is full' : '';
  return new BackupFailed(`the backup could not be made (${code})${full}`, { cause: error });
}
