/** Checks DATA_DIR: whether it is writable, has free space, and protects the master key. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { existing, modeOf, READ, reachOf, WRITE, whyDenied } from '../host/file-access.js';
import type { Config } from '../settings/config.js';
import { type Check, type Finding, fail, ok, warn } from './check.js';
import { access, ITS_GROUP, ofOtherUsers } from './file-access-findings.js';

const MEBIBYTE = 1024 ** 2;
const LITTLE_ROOM = 1_024 * MEBIBYTE;
const NO_ROOM = 64 * MEBIBYTE;
const OWN_FOLDER = 'run chmod 700 on it, or set DATA_DIR to a folder below it, which serve creates';

export function dataDirChecks({ dataDir, masterKey }: Config): Check[] {
  const key = join(dataDir, 'master.key');
  return [
    { name: 'DATA_DIR', run: () => [...usable(dataDir), room(dataDir)] },
    ...(masterKey === null && existsSync(key) ? [{ name: 'master.key', run: () => secrecy(key) }] : []),
  ];
}

function usable(dataDir: string): Finding[] {
  const give = 'let the user of the service write there';
  const denied = whyDenied(join(dataDir, 'store.sqlite'));
  const why = denied === null ? '' : `: ${denied}`;
  if (!existsSync(dataDir)) {
    return isWritable(existing(dataDir))
      ? [warn('does not exist yet', 'nothing before the first start: serve creates it. Otherwise check DATA_DIR')]
      : [fail(`does not exist and can't be created${why}`, give)];
  }
  if (!statSync(dataDir).isDirectory()) return [fail('not a folder', 'set DATA_DIR to a folder')];
  if (!isWritable(dataDir)) return [fail(`not writable${why}`, give)];
  return [shared(dataDir), ...ofOtherUsers(dataDir)];
}

function shared(dataDir: string): Finding {
  const mode = `(mode ${modeOf(dataDir)})`;
  if (reachOf(dataDir, WRITE) === 'everybody') {
    return fail(`other users can write to it ${mode}`, `${OWN_FOLDER}: other users could replace store and key`);
  }
  if (reachOf(dataDir, READ) === 'everybody') {
    return warn(`other users can list it ${mode}`, `${OWN_FOLDER}: it holds payments and keys`);
  }
  return reachOf(dataDir) === 'group' ? warn(`its group can use it ${mode}`, ITS_GROUP) : ok('writable');
}

function room(dataDir: string): Finding {
  const { bavail, bsize } = statfsSync(existing(dataDir));
  const free = bavail * bsize;
  const says = `${Math.floor(free / MEBIBYTE)} MiB are free`;
  const todo = 'free disk space, or lower BROKER_RETENTION or BROKER_RETENTION_SIZE';
  if (free < NO_ROOM) return fail(says, todo);
  return free < LITTLE_ROOM ? warn(says, todo) : ok(says);
}

function secrecy(path: string): Finding[] {
  const found = access(path, 'run chmod 600 on it, and find out who may have read it');
  return found.length > 0 ? found : [ok('no other user can read it')];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
