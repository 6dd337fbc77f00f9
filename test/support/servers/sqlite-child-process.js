/**
 * A process of its own on a data folder, with the adapters of src/: `node sqlite-child-process.js <role> <dataDir>`. It prints a
 * line for each thing done, and goes on until it is killed.
 */
import { createInterface } from 'node:readline';
import { SqliteBroker } from '../../../src/adapters/sqlite/broker.js';
import { lockDataDir } from '../../../src/adapters/sqlite/data-dir-lock.js';
import { SqliteEventStore } from '../../../src/adapters/sqlite/event-store.js';
import { openProjectionStates } from '../../../src/adapters/sqlite/projection-states.js';
import { StoreFile } from '../../../src/adapters/sqlite/store-file.js';

const [, , role, dataDir] = process.argv;
const tell = (line) => process.stdout.write(`${line}\n`);
const record = (text) => ({ key: Buffer.from('key'), value: Buffer.from(text), headers: [] });

/** A file that is garbage collected lets go of its lock. */
const held = [];

const ROLES = {
  /** Has the folder until it is killed. */
  async lockFolder() {
    held.push(await lockDataDir(dataDir, 0));
    tell('locked');
    process.stdin.resume();
  },

  /** For each line it reads, one record that says when it was published, on the clock that processes share. */
  async publish() {
    const broker = new SqliteBroker(new StoreFile(dataDir));
    tell('ready');
    for await (const _ of createInterface({ input: process.stdin })) {
      await broker.publish('topic', [record('a')]);
    }
  },

  /** Tells the number of an append and a publish once both are durable. */
  async write() {
    const file = new StoreFile(dataDir);
    const [store, broker] = [new SqliteEventStore(file), new SqliteBroker(file)];
    for (let number = 0; ; number += 1) {
      const event = { id: `id-${number}`, type: 'Type', data: { number }, metadata: {} };
      await Promise.all([store.append('stream', [event], number - 1), broker.publish('topic', [record(`${number}`)])]);
      tell(number);
    }
  },

  /** Commits three states and a position, all of one number, again and again. */
  async commitStates() {
    const states = openProjectionStates(dataDir, () => undefined);
    states.open({ version: 'version', history: 'history' });
    for (let number = 1; ; number += 1) {
      const state = { revision: number, eventId: `id-${number}`, json: JSON.stringify('x'.repeat(2_000)) };
      const changed = new Map(['a', 'b', 'c'].map((name) => [name, state]));
      states.commit({ states: changed, keys: [], setAside: new Map(), position: String(number) });
      if (number % 50 === 0) tell(number);
    }
  },

  /** Has the write lock of the store file. */
  async holdWriteLock() {
    const { file } = new StoreFile(dataDir);
    held.push(file);
    file.exec('BEGIN IMMEDIATE');
    tell('locked');
    process.stdin.resume();
  },
};

await ROLES[role]();
