/** The disk by itself, for rows that wait for it: 16 KiB written in place and synced, so many times a second at most. */
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { newFolder, remove } from './folders.js';

/** What a small commit writes. */
const PAGE = Buffer.alloc(16 * 1024, 2);
/** As long as SQLite's log mostly is before it begins anew. */
const FILE_BYTES = 4 * 1024 * 1024;

/** @returns ms, of each sync */
export async function syncTimes({ perSecond, seconds }: { perSecond: number; seconds: number }): Promise<number[]> {
  const folder = newFolder();
  const file = openSync(join(folder, 'sync'), 'w');
  try {
    writeSync(file, Buffer.alloc(FILE_BYTES, 1));
    fsyncSync(file);
    const times: number[] = [];
    for (let n = 0; n < perSecond * seconds; n += 1) {
      await delay(1_000 / perSecond);
      writeSync(file, PAGE, 0, PAGE.length, (n * PAGE.length) % FILE_BYTES);
      const begin = performance.now();
      fsyncSync(file);
      times.push(performance.now() - begin);
    }
    return times;
  } finally {
    closeSync(file);
    remove(folder);
  }
}
