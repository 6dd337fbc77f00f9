/**
 * Readers wait for no writer, except while another process has the whole file: the first to open it after a crash recovers
 * the log, and the last to close it checkpoints the log.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { BUSY_LIMIT_MS } from './group-commit.js';
import { isBusy } from './open-file.js';

const AGAIN_MS = 20;

/** @throws any error of `read`; that another process has the file only after the limit */
export async function readPatiently<T>(read: () => T, limitMs: number = BUSY_LIMIT_MS): Promise<T> {
  for (const until = performance.now() + limitMs; ; await delay(AGAIN_MS)) {
    try {
      return read();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until) throw error;
    }
  }
}
