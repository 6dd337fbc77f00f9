/** Makes the event store of a running service fail for good, in the ways with the longest driver messages. */
import { join } from 'node:path';
import { driver } from '../../src/adapters/sqlite/open-file.js';
import type { EventStoreServer } from '../services/eventstoredb/event-store-server.js';

/** Renames a table. The new name does not matter. */
export function breakSqlite(dataDir: string): void {
  const database = new (driver())(join(dataDir, 'store.sqlite'));
  database.exec('ALTER TABLE events RENAME TO gone');
  database.close();
}

/** Revokes credentials that were valid. */
export function breakEventStore({ faults }: EventStoreServer): void {
  faults.refuseCredentials();
  faults.dropSubscriptions();
}
