/** Checks DATA_DIR: whether it is writable, has free space, and protects the master key. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { modeOf, modeOpenToOthers, OTHERS_READ, octal } from '../open-folder.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';

const MEBIBYTE = 1024 ** 2;
const LITTLE_ROOM = 1_024 * MEBIBYTE;
const NO_ROOM = 64 * MEBIBYTE;
const OTHERS = 0o077;

export function dataDirChecks({ dataDir, masterKey }: Config): Check[] {
  const key = join(dataDir, 'master.key');
  return [
    { name: 'DATA_DIR', run: () => [usable(dataDir), room(dataDir)] },
    ...(masterKey === null && existsSync(key) ? [{ name: 'master.key', run: () => [secrecy(key)] }] : []),
  ];
}

function usable(dataDir: string): Finding {
  const give = 'let the user of the service write there';
  if (!existsSync(dataDir)) {
    return isWritable(existing(dataDir))
      ? warn('does not exist yet', 'nothing before the first start: serve creates it. Otherwise check DATA_DIR')
      : fail("does not exist and can't be created", give);
  }
  if (!statSync(dataDir).isDirectory()) return fail('not a folder', 'set DATA_DIR to a folder');
  if (!isWritable(dataDir)) return fail('not writable', give);
  const open = modeOpenToOthers(dataDir);
  if (open !== null) {
    return warn(
      `other users can write to it (mode ${open})`,
      'run chmod 700 on it: other users could replace store and key',
    );
  }
  const mode = modeOf(dataDir);
  if ((mode & OTHERS_READ) === 0) return ok('writable');
  return warn(`other users can list it (mode ${octal(mode)})`, 'run chmod 700 on it: it holds payments and keys');
}

function room(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(existing(dataDir));
  const free = bavail * bsize;
  const says = `${Math.floor(free / MEBIBYTE)} MiB are free`;
  const todo = 'free disk space, or lower BROKER_RETENTION or BROKER_RETENTION_SIZE';
  if (free < NO_ROOM) return fail(says, todo);
  return free < LITTLE_ROOM ? warn(says, todo) : ok(says);
}

function secrecy(path: string): Finding {
  const mode = modeOf(path);
  if ((mode & OTHERS) === 0) return ok('no other user can read it');
  return fail(
    `other users can read or write it (mode ${mode.toString(8)})`,
    'run chmod 600 on it, and find out who may have read it',
  );
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The folder itself, or its nearest existing parent. */
function existing(path: string): string {
  let folder = resolve(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
