/**
 * One `serve` at a time has a DATA_DIR. The lock is an exclusive transaction on an empty SQLite file: the operating system
 * releases it with the process, after kill -9 too.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isBusy, openFile, type SqliteFile } from './open-file.js';
import { inDataDir } from './store-file.js';

const RETRY_EVERY_MS = 50;

export class DataDirInUse extends Error {
  override readonly name = 'DataDirInUse';
  readonly code = 'DATA_DIR_IN_USE';
}

/** @param waitMs for a holder about to end @returns the release @throws DataDirInUse, DataDirUnusable, signal.reason */
export async function lockDataDir(dataDir: string, waitMs: number, signal?: AbortSignal): Promise<() => void> {
  const file = inDataDir(() => openFile(join(dataDir, 'serve.lock'), 0));
  const until = performance.now() + waitMs;
  try {
    while (!inDataDir(() => tryLock(file))) {
      if (performance.now() >= until) throw new DataDirInUse('DATA_DIR is in use by another process');
      await delay(RETRY_EVERY_MS, undefined, { signal });
    }
  } catch (error) {
    file.close();
    throw error;
  }
  return () => file.close();
}

function tryLock(file: SqliteFile): boolean {
  try {
    file.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
