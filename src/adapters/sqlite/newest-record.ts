import type { StoreFile } from './store-file.js';

/**
 * Publication time of the newest record of any topic, by the clock at the time; ms since the epoch, null if there is none.
 */
export function newestRecord({ file }: StoreFile): number | null {
  const newest = '(SELECT timestamp FROM records WHERE topic = topics.id ORDER BY offset DESC LIMIT 1)';
  return file.prepare(`SELECT max(${newest}) FROM topics`).pluck().get() as number | null;
}
