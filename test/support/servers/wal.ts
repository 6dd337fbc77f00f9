import { readFileSync } from 'node:fs';

const HEADER = 32;
const FRAME_HEADER = 24;

/** The number of transactions in a SQLite write-ahead log: the last frame of each contains the database's new size. */
export function transactionsIn(walPath: string): number {
  const wal = readFileSync(walPath);
  const frame = FRAME_HEADER + wal.readUInt32BE(8);
  let count = 0;
  for (let at = HEADER; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) > 0) count += 1;
  return count;
}
