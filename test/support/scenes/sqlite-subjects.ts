/** The SQLite adapters as subjects of the contract suites: each on its own folder. */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { openFile } from '../../../src/adapters/sqlite/open-file.js';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import { openRequestChains, REQUESTS_FILE } from '../../../src/adapters/sqlite/request-chains.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';
import type { Broker } from '../../../src/ports/broker.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { ProjectionStates } from '../../../src/ports/projection-states.js';
import type { RequestChains } from '../../../src/ports/request-chains.js';
import type { Features, Open } from '../../contract/contract.js';
import { AdapterSubject, type Opened } from './adapter-subject.js';
import { temporaryDirectory } from './temporary-directory.js';

export const SQLITE: Features = { has: ['headerOrder', 'stall', 'damage', 'poison', 'muchPoison'], patienceMs: 5_000 };

/** Wraps an instance, to make a broken adapter. */
export type Wrap<Port> = (port: Port) => Port;

/** For a held write lock: too short if another process may hold it for a moment. */
const HASTY_MS = 50;

/** A subject on its own folder, in which `file` may be damaged. */
export function overFolder<Port>(
  open: (dataDir: string, busyLimitMs?: number) => Opened<Port>,
  file = 'read-model.sqlite',
): Open<Port> {
  return async (features) => {
    const { path, remove } = temporaryDirectory();
    let busyLimitMs: number | undefined;
    const stall = async () => {
      busyLimitMs = HASTY_MS;
      await subject.reopen();
      return lockElsewhere(path);
    };
    const subject = new AdapterSubject(features, () => open(path, busyLimitMs), {
      stall,
      damage: async () => damageFile(join(path, file)),
      poison: async (topic) => poisonTopic(path, topic),
      close: async () => remove(),
    });
    return subject;
  };
}

/** Another process holds the write lock until the returned function is called. */
function lockElsewhere(dataDir: string): () => Promise<void> {
  const holder = openFile(join(dataDir, 'store.sqlite'));
  holder.exec('BEGIN IMMEDIATE');
  return async () => {
    holder.close();
  };
}

/** A row whose headers are not JSON, as a foreign program may write it. */
export function poisonTopic(dataDir: string, topic: string): void {
  const file = openFile(join(dataDir, 'store.sqlite'));
  file
    .transaction(() => {
      const next = '(SELECT next_offset FROM topics WHERE name = @topic)';
      const id = '(SELECT id FROM topics WHERE name = @topic)';
      file
        .prepare(
          `INSERT INTO records (topic, offset, key, value, headers, timestamp)
           VALUES (${id}, ${next}, NULL, x'7b7d', '{not JSON', @now)`,
        )
        .run({ topic, now: Date.now() });
      file.prepare('UPDATE topics SET next_offset = next_offset + 1 WHERE name = @topic').run({ topic });
    })
    .immediate();
  file.close();
}

/** Overwrites all but the first pages. */
export function damageFile(path: string, from = 16 * 1024): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(fstatSync(file).size - from, 'damage'), 0, null, from);
  closeSync(file);
}

/** A port on its own store file, which is closed after the port. */
function overStoreFile<Port extends { close(): Promise<void> }>(
  make: (store: StoreFile) => Port,
  wrap: Wrap<Port>,
): Open<Port> {
  return overFolder((dataDir, busyLimitMs) => {
    const file = new StoreFile(dataDir, busyLimitMs);
    const port = wrap(make(file));
    const close = async () => {
      await port.close();
      file.close();
    };
    return { port, close };
  });
}

export function sqliteEventStore(wrap: Wrap<EventStore> = (store) => store): Open<EventStore> {
  return overStoreFile<EventStore>((file) => new SqliteEventStore(file), wrap);
}

export function sqliteBroker(wrap: Wrap<Broker> = (broker) => broker): Open<Broker> {
  return overStoreFile<Broker>((file) => new SqliteBroker(file), wrap);
}

export function sqliteProjectionStates(wrap: Wrap<ProjectionStates> = (states) => states): Open<ProjectionStates> {
  return overFolder((dataDir) => {
    const port = wrap(openProjectionStates(dataDir, () => undefined));
    return { port, close: async () => port.close() };
  });
}

export function sqliteRequestChains(wrap: Wrap<RequestChains> = (chains) => chains): Open<RequestChains> {
  const open = (dataDir: string) => {
    const port = wrap(openRequestChains(dataDir, () => undefined));
    return { port, close: async () => port.close() };
  };
  return overFolder(open, REQUESTS_FILE);
}
