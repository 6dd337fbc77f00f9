/** A folder with the SQLite adapters of one process, and child processes beside it. */
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../src/adapters/sqlite/event-store.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import { type Role, SqliteChild } from './sqlite-child.js';
import { temporaryDirectory } from './temporary-directory.js';

export class SqliteFolder {
  readonly #directory = temporaryDirectory();
  readonly dataDir = `${this.#directory.path}/data`;
  readonly #cleanups: (() => unknown)[] = [];

  /** Closed with the folder, latest first. */
  onClose(cleanup: () => unknown): void {
    this.#cleanups.push(cleanup);
  }

  open(): { file: StoreFile; store: SqliteEventStore; broker: SqliteBroker } {
    const file = new StoreFile(this.dataDir);
    const opened = { file, store: new SqliteEventStore(file), broker: new SqliteBroker(file) };
    this.onClose(async () => {
      await Promise.all([opened.store.close(), opened.broker.close()]);
      file.close();
    });
    return opened;
  }

  child(role: Role): SqliteChild {
    const child = new SqliteChild(role, this.dataDir);
    this.onClose(() => child.kill());
    return child;
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.splice(0).reverse()) await cleanup();
    this.#directory.remove();
  }
}
