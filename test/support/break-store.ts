/** Makes the event store of a running service fail for good: each in a way that its driver has most to say of. */
import { join } from 'node:path';
import { driver } from '../../src/adapters/sqlite/driver.js';
import type { EventStoreServer } from '../services/eventstoredb/event-store-server.js';

/** What the table is called does not matter to anybody any more. */
export function breakSqlite(dataDir: string): void {
  const database = new (driver())(join(dataDir, 'store.sqlite'));
  database.exec('ALTER TABLE events RENAME TO gone');
  database.close();
}

/** Credentials that were good are not any more. */
export function breakEventStore({ faults }: EventStoreServer): void {
  faults.refuseCredentials();
  faults.dropSubscriptions();
}
