import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import type { EventStore } from '../../../src/ports/event-store.js';

/** The embedded event store on a folder, with a close that also releases its file. */
export function openSqliteStore(dataDir: string): { store: EventStore; file: StoreFile; close: () => Promise<void> } {
  const file = new StoreFile(dataDir);
  const store = new SqliteEventStore(file);
  const close = async () => {
    await store.close();
    file.close();
  };
  return { store, file, close };
}
