/**
 * The event store on EventStoreDB as a subject of the contract suite: on the test server, and on a real one where
 * EVENTSTOREDB_URL names it. Streams have unique names, so a shared server is no matter.
 */
import { connect, credentialsOf } from '../../src/adapters/eventstoredb/client.js';
import { EventStoreDbStore } from '../../src/adapters/eventstoredb/event-store.js';
import type { EventStore } from '../../src/ports/event-store.js';
import type { Features, Open } from '../contract/contract.js';
import { startEventStore } from '../services/eventstoredb/event-store-server.js';
import { AdapterSubject, alone } from './adapter-subject.js';
import { silentLogger } from './silent-logger.js';

const EVENTSTOREDB: Features = {
  reopen: true,
  severalProcesses: true,
  severalPartitions: false,
  concurrent: false,
  headerOrder: false,
  rebalances: false,
  latencyMs: null,
  stall: true,
  damage: false,
  poison: false,
  patienceMs: 20_000,
};

export const TEST_SERVER: Features = EVENTSTOREDB;
export const REAL_SERVER: Features = { ...EVENTSTOREDB, stall: false };

export function openEventStoreDb(url: string, limits = {}, random = Math.random): EventStore {
  const own = { client: connect(url), credentials: credentialsOf(url), logger: silentLogger };
  return new EventStoreDbStore({ ...own, random, limits });
}

interface ServerBehind {
  readonly url: string;
  stall(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export function onTestServer(): Open<EventStore> {
  return overServer(async () => {
    const server = await startEventStore();
    const stall = async () => {
      server.faults.silent('append', 'read', 'subscribe');
      return async () => server.faults.clear();
    };
    return { url: server.url, stall, stop: () => server.stop() };
  });
}

export function onRealServer(url: string): Open<EventStore> {
  const stall = () => Promise.reject(new Error('a real server is not made to stall'));
  return overServer(async () => ({ url, stall, stop: async () => undefined }));
}

function overServer(start: () => Promise<ServerBehind>): Open<EventStore> {
  return async (features) => {
    const server = await start();
    const open = () => alone(openEventStoreDb(server.url));
    return new AdapterSubject(features, open, { stall: () => server.stall(), close: () => server.stop() });
  };
}
