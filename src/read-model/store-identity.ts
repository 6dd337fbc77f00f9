/**
 * The identity of the event store: an event in a separate stream, appended by the first process that finds none.
 * DATA_DIR/store-id contains the identity that this installation accepted, so another store, or an empty one, is detected
 * before anything is folded from it, and a deleted read model is rebuilt without asking.
 */
import { type EventStore, NO_STREAM, OtherHistory, WrongExpectedRevision } from '../ports/event-store.js';

const STREAM = 'store-identity';

export interface IdentityParts {
  readonly store: Pick<EventStore, 'append' | 'read'>;
  /** A UUID: the identity, and the id of its event. */
  readonly newId: () => string;
}

/** Null if the store has none. @throws StoreUnavailable */
export async function readIdentity(store: Pick<EventStore, 'read'>): Promise<string | null> {
  for await (const { data } of store.read(STREAM)) return String(data.identity);
  return null;
}

/** Creates one if the store has none. @throws StoreUnavailable */
export async function establishIdentity({ store, newId }: IdentityParts): Promise<string> {
  const found = await readIdentity(store);
  if (found !== null) return found;
  const identity = newId();
  try {
    await store.append(STREAM, [{ id: newId(), type: 'StoreIdentified', data: { identity }, metadata: {} }], NO_STREAM);
    return identity;
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error;
    return establishIdentity({ store, newId });
  }
}

/**
 * The store's identity, if it is the accepted one. Without an accepted one, any store is accepted.
 * @param accepted the identity that was accepted; null: none yet
 * @throws OtherHistory, StoreUnavailable
 */
export async function acceptedIdentity(parts: IdentityParts, accepted: string | null): Promise<string> {
  if (accepted === null) return establishIdentity(parts);
  const found = await readIdentity(parts.store);
  mustBeAccepted(found, accepted);
  return accepted;
}

/** @throws OtherHistory */
export function mustBeAccepted(found: string | null, accepted: string): void {
  if (found === null) throw new OtherHistory('is empty or a different one than before');
  if (found !== accepted) throw new OtherHistory('is a different one than before');
}
