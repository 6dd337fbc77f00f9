/**
 * The identity of the event store: the last event of a separate stream. The first process that finds no identity appends
 * one; so does `store accept` after a restore, because revisions from before a restore mean other events afterwards.
 *
 * DATA_DIR/store-id contains the identity that this installation accepted, in its last line, so another store, or an empty
 * one, is detected before anything is folded from it, and a deleted read model is rebuilt without asking. The lines before
 * are identities that were accepted earlier: a store that has one of them again was restored. A last line with REFUSED is why
 * a process refused the store: the next one may not know the event that this one missed. `store accept` adds the line behind.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type EventStore, NO_STREAM, OtherHistory, WrongExpectedRevision } from '../ports/event-store.js';

const STREAM = 'store-identity';
const FILE = 'store-id';
const REFUSED = 'refused: ';

export interface IdentityParts {
  readonly store: Pick<EventStore, 'append' | 'read'>;
  /** A UUID: the identity, and the id of its event. */
  readonly newId: () => string;
}

/** Null if the store has none. @throws StoreUnavailable */
export async function readIdentity(store: Pick<EventStore, 'read'>): Promise<string | null> {
  return (await readLatest(store)).identity;
}

/**
 * The store's identity; a new one if the store has none, or one that was accepted here before: then it was restored. Of
 * two DATA_DIRs on a restored store the first begins an identity, and the other one takes it.
 * @param accepted every identity that this DATA_DIR has accepted
 * @throws StoreUnavailable
 */
export async function acceptIdentity({ store, newId }: IdentityParts, accepted: readonly string[]): Promise<string> {
  const found = await readLatest(store);
  if (found.identity !== null && !accepted.includes(found.identity)) return found.identity;
  const identity = newId();
  const event = { id: newId(), type: 'StoreIdentified', data: { identity }, metadata: {} };
  try {
    await store.append(STREAM, [event], found.revision);
    return identity;
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
    return acceptIdentity({ store, newId }, accepted);
  }
}

async function readLatest(store: Pick<EventStore, 'read'>) {
  let latest: { identity: string | null; revision: number } = { identity: null, revision: NO_STREAM };
  for await (const { data, revision } of store.read(STREAM)) latest = { identity: String(data.identity), revision };
  return latest;
}

/** @param accepted the identity that was accepted; null: none yet, any is @throws OtherHistory, StoreUnavailable */
export async function acceptedIdentity(parts: IdentityParts, accepted: string | null): Promise<string> {
  if (accepted === null) return acceptIdentity(parts, []);
  mustBeAccepted(await readIdentity(parts.store), accepted);
  return accepted;
}

/** @throws OtherHistory */
export function mustBeAccepted(found: string | null, accepted: string): void {
  if (found === null) throw new OtherHistory('is empty or a different one than before');
  if (found !== accepted) throw new OtherHistory('is a different one than before');
}

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
    return readFileSync(join(dataDir, FILE), 'utf8').split('\n').filter(Boolean);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Atomic, even in a power failure. @throws an error of fs */
export function writeStoreId(dataDir: string, identity: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, FILE);
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeSync(file, [...readStoreIds(dataDir), identity, ''].join('\n'));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
