import type { StoreFile } from './store-file.js';

/** When the newest record of any topic was published, by the clock of then; ms since the epoch, null where there is none. */
export function newestRecord({ file }: StoreFile): number | null {
  const newest = '(SELECT timestamp FROM records WHERE topic = topics.id ORDER BY offset DESC LIMIT 1)';
  return file.prepare(`SELECT max(${newest}) FROM topics`).pluck().get() as number | null;
}
