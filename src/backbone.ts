/** The event store, the broker and the keys of an installation, by its settings: what serve and the command line share. */
import { randomBytes } from 'node:crypto';
import { SqliteBroker } from './adapters/sqlite/broker.js';
import { SqliteEventStore } from './adapters/sqlite/event-store.js';
import { StoreFile } from './adapters/sqlite/store-file.js';
import type { Config } from './config.js';
import type { Broker } from './ports/broker.js';
import type { EventStore } from './ports/event-store.js';
import { masterKeyFromFile } from './secrets/master-key-file.js';
import { type MasterKey, masterKey } from './secrets/master-keys.js';
import { createSealing, type Sealing } from './secrets/sealing.js';

export interface Backbone {
  readonly store: EventStore;
  readonly broker: Broker;
  readonly masterKey: MasterKey;
  readonly sealing: Sealing;
  close(): Promise<void>;
}

/** @throws MasterKeyMissing, or an error of the file system where DATA_DIR can't be used */
export function openBackbone(config: Config): Backbone {
  const key = masterKey(config.masterKey ?? masterKeyFromFile(config.dataDir, randomBytes));
  const previous = config.masterKeyPrevious ? [masterKey(config.masterKeyPrevious)] : [];
  const file = new StoreFile(config.dataDir);
  const store = new SqliteEventStore(file);
  const broker = new SqliteBroker(file);
  return {
    store,
    broker,
    masterKey: key,
    sealing: createSealing([key, ...previous], randomBytes),
    async close() {
      await broker.close();
      await store.close();
      file.close();
    },
  };
}
