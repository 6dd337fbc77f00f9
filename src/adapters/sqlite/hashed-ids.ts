/**
 * Finds events and deliveries of any age by their ids. The index has a part for each block of events: only the newest part,
 * which is small, changes, and a search looks into each. A hash may stand for several ids: the caller compares them.
 */
import { crc32 } from 'node:zlib';
import { PER_EVENT } from './deliveries-view-schema.js';
import type { SqliteFile, SqliteStatement } from './open-file.js';

/** Events. */
const BLOCK = 1_024;

/** For FROM: the numbers of the rows with the hash. */
export const HASHED = `(
  WITH RECURSIVE blocks (n) AS (
    SELECT max(block) FROM hashes
    UNION ALL SELECT n - 1 FROM blocks WHERE n > (SELECT min(block) FROM hashes)
  )
  SELECT hashes.row FROM blocks CROSS JOIN hashes ON hashes.block = blocks.n AND hashes.hash = ?
) AS hashed`;

export function hashOf(accountId: number, id: string): number {
  return crc32(`${accountId} ${id}`);
}

export class HashedIds {
  readonly #add: SqliteStatement;
  readonly #forget: SqliteStatement;

  constructor(file: SqliteFile) {
    this.#add = file.prepare('INSERT OR IGNORE INTO hashes (block, hash, row) VALUES (?, ?, ?)');
    this.#forget = file.prepare(
      `DELETE FROM hashes WHERE block < coalesce((SELECT min(row) FROM events) / ${BLOCK}, ${Number.MAX_SAFE_INTEGER})`,
    );
  }

  /** @param row of a delivery, or of an event: its number times PER_EVENT */
  add(accountId: number, id: string, row: number): void {
    this.#add.run(Math.floor(row / (BLOCK * PER_EVENT)), hashOf(accountId, id), row);
  }

  /** Blocks whose events are all forgotten. */
  forget(): void {
    this.#forget.run();
  }
}
