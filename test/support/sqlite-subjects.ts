/** The SQLite adapters as the contract suites want them: each over a folder of its own. */
import { closeSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { SqliteBroker } from '../../src/adapters/sqlite/broker.js';
import { SqliteEventStore } from '../../src/adapters/sqlite/event-store.js';
import { openFile } from '../../src/adapters/sqlite/open-file.js';
import { openProjectionStates } from '../../src/adapters/sqlite/projection-states.js';
import { StoreFile } from '../../src/adapters/sqlite/store-file.js';
import type { Broker } from '../../src/ports/broker.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { ProjectionStates } from '../../src/ports/projection-states.js';
import type { Features, Open, Subject } from '../contract/contract.js';
import { temporaryDirectory } from './temporary-directory.js';

export const SQLITE: Features = {
  reopen: true,
  severalProcesses: true,
  severalPartitions: false,
  concurrent: false,
  headerOrder: true,
  rebalances: false,
  latencyMs: 20,
  stall: true,
  damage: false,
  patienceMs: 5_000,
};

/** Puts something before or around an instance, which is how a broken adapter is made. */
export type Wrap<Port> = (port: Port) => Port;

interface Opened<Port> {
  readonly port: Port;
  close(): Promise<void>;
}

class SqliteSubject<Port> implements Subject<Port> {
  readonly #directory = temporaryDirectory();
  readonly #open: (dataDir: string) => Opened<Port>;
  readonly #others: Opened<Port>[] = [];
  #opened: Opened<Port>;

  constructor(
    readonly features: Features,
    open: (dataDir: string) => Opened<Port>,
  ) {
    this.#open = open;
    this.#opened = open(this.#directory.path);
  }

  get port(): Port {
    return this.#opened.port;
  }

  async reopen(): Promise<Port> {
    await this.#opened.close();
    this.#opened = this.#open(this.#directory.path);
    return this.port;
  }

  async another(): Promise<Port> {
    const other = this.#open(this.#directory.path);
    this.#others.push(other);
    return other.port;
  }

  /** Another process has the write lock, and time runs a thousand times as fast. */
  async stall(): Promise<() => Promise<void>> {
    const holder = openFile(join(this.#directory.path, 'store.sqlite'));
    holder.exec('BEGIN IMMEDIATE');
    const began = performance.now();
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => began + 1_000 * (now() - began));
    return async () => {
      clock.mockRestore();
      holder.close();
    };
  }

  /** Overwrites all but the first pages of the read model. */
  async damage(): Promise<void> {
    damageFile(join(this.#directory.path, 'read-model.sqlite'));
  }

  async close(): Promise<void> {
    await Promise.all([this.#opened, ...this.#others].map((opened) => opened.close()));
    this.#directory.remove();
  }
}

export function damageFile(path: string, from = 16 * 1024): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(fstatSync(file).size - from, 'damage'), 0, null, from);
  closeSync(file);
}

/** A port over a store file of its own, which is closed after it. */
function overStoreFile<Port extends { close(): Promise<void> }>(
  make: (store: StoreFile) => Port,
  wrap: Wrap<Port>,
): Open<Port> {
  const open = (dataDir: string): Opened<Port> => {
    const file = new StoreFile(dataDir);
    const port = wrap(make(file));
    const close = async () => {
      await port.close();
      file.close();
    };
    return { port, close };
  };
  return async (features) => new SqliteSubject(features, open);
}

export function sqliteEventStore(wrap: Wrap<EventStore> = (store) => store): Open<EventStore> {
  return overStoreFile<EventStore>((file) => new SqliteEventStore(file), wrap);
}

export function sqliteBroker(wrap: Wrap<Broker> = (broker) => broker): Open<Broker> {
  return overStoreFile<Broker>((file) => new SqliteBroker(file), wrap);
}

export function sqliteProjectionStates(wrap: Wrap<ProjectionStates> = (states) => states): Open<ProjectionStates> {
  const open = (dataDir: string): Opened<ProjectionStates> => {
    const port = wrap(openProjectionStates(dataDir, () => undefined));
    return { port, close: async () => port.close() };
  };
  return async (features) => new SqliteSubject(features, open);
}
