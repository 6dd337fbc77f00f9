/**
 * Reading waits for no writer, but for moments in which another process has all of the file: the one that opens it first
 * after a crash puts its log in order, and the one that closes it last moves the log into it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BUSY_LIMIT_MS } from './group-commit.js';
import { isBusy } from './open-file.js';

const AGAIN_MS = 20;

/** @throws what `read` throws; that another process has the file only after so long */
export async function readPatiently<T>(read: () => T, limitMs: number = BUSY_LIMIT_MS): Promise<T> {
  for (const until = performance.now() + limitMs; ; await delay(AGAIN_MS)) {
    try {
      return read();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
  }
}
