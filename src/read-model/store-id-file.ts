/**
 * DATA_DIR/store-id: the identity of the event store that this installation belongs to, in the last line. The lines before
 * are identities that were accepted earlier: a store that has one of them again was restored. A last line with REFUSED is why
 * a process refused the store: the next one may not know the event that this one missed. `store accept` adds the line behind.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { OtherHistory } from '../ports/event-store.js';

const NAME = 'store-id';

const REFUSED = 'refused: ';

/** Null if none was accepted yet. @throws OtherHistory if the store was refused since; an error of fs */
export function readStoreId(dataDir: string): string | null {
  const last = readStoreIds(dataDir).at(-1) ?? null;
  if (last?.startsWith(REFUSED)) throw new OtherHistory(last.slice(REFUSED.length));
  return last;
}

/** Kept until another identity is written. @throws an error of fs */
export function refuseStore(dataDir: string, { how }: OtherHistory): void {
  if (!readStoreIds(dataDir).at(-1)?.startsWith(REFUSED)) writeStoreId(dataDir, `${REFUSED}${how}`);
}

/** Oldest first. @throws an error of fs */
export function readStoreIds(dataDir: string): readonly string[] {
  try {
    return readFileSync(join(dataDir, NAME), 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Atomic, even in a power failure. @throws an error of fs */
export function writeStoreId(dataDir: string, identity: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, NAME);
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeSync(file, [...readStoreIds(dataDir), identity, ''].join('\n'));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
