/** Who can use a file or folder of DATA_DIR: others could read payments, or replace store, read model or key. */
import { accessSync, constants, existsSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

const { R_OK, W_OK, X_OK } = constants;
const NOT_PERMITTED: ReadonlySet<string> = new Set(['EACCES', 'EPERM']);
/** Of a SQLite file; others don't have these. */
const BESIDE = ['', '-wal', '-shm'] as const;

export type Reach = 'owner' | 'group' | 'everybody';

export const READ = 0o4;
export const WRITE = 0o2;

/** Whom the mode gives one of the rights, at most; root has all. @throws an error of fs */
export function reachOf(path: string, rights = READ | WRITE): Reach {
  const { mode } = statSync(path);
  if ((mode & rights) !== 0) return 'everybody';
  return (mode & (rights << 3)) !== 0 ? 'group' : 'owner';
}

/** Four octal digits. @throws an error of fs */
export function modeOf(path: string): string {
  return octal(statSync(path));
}

/** Its owner and this process's user, in words; null if they are the same, or the file is gone. @throws an error of fs */
export function otherOwner(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return !found || found.uid === process.getuid?.() ? null : ownersOf(path, found);
}

/** Why this process may not use or create the file: which path, its owner, and this process's user. Null if it may. */
export function whyDenied(path: string): string | null {
  const folder = existing(dirname(resolve(path)));
  if (isDenied(folder, W_OK | X_OK)) return ownersOf(folder, statSync(folder));
  const file = BESIDE.map((end) => path + end).find((one) => isDenied(one, R_OK | W_OK));
  return file === undefined ? null : ownersOf(file, statSync(file));
}

/** The path itself, or its nearest existing parent. */
export function existing(path: string): string {
  let at = resolve(path);
  while (!existsSync(at)) at = dirname(at);
  return at;
}

function isDenied(path: string, rights: number): boolean {
  try {
    accessSync(path, rights);
    return false;
  } catch (error) {
    return NOT_PERMITTED.has((error as NodeJS.ErrnoException).code ?? '');
  }
}

function ownersOf(path: string, found: Stats): string {
  const here = `this process runs as uid ${process.getuid?.()}, group ${process.getgid?.()}`;
  return `${basename(path)} belongs to uid ${found.uid}, group ${found.gid} (mode ${octal(found)}); ${here}`;
}

function octal({ mode }: Stats): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
