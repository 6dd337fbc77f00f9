/**
 * Identifies the event store that this installation belongs to: retries until the store answers, and keeps the id in
 * DATA_DIR.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { inDataDir } from '../adapters/sqlite/store-file.js';
import { type EventStore, StoreRefused, StoreUnavailable } from '../ports/event-store.js';
import { acceptedIdentity, readStoreId, writeStoreId } from '../read-model/store-identity.js';

const ASK_AGAIN_MS = 500;

export interface Identifying {
  readonly store: EventStore;
  /** The identity of the store that the read model was folded from. */
  readonly accepted: string | null;
  /** Aborted when nobody waits any longer. */
  readonly signal: AbortSignal;
}

/** @throws OtherHistory, StoreRefused, DataDirUnusable; AbortError */
export async function identify(dataDir: string, { store, accepted, signal }: Identifying): Promise<string> {
  const kept = inDataDir(() => readStoreId(dataDir));
  for (;;) {
    try {
      const identity = await acceptedIdentity({ store, newId: randomUUID }, kept ?? accepted);
      if (kept === null) inDataDir(() => writeStoreId(dataDir, identity));
      return identity;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error instanceof StoreRefused) throw error;
      await delay(ASK_AGAIN_MS, undefined, { signal });
    }
  }
}
