/**
 * The event store on EventStoreDB as a subject of the contract suite: on the test server, on a real one if
 * EVENTSTOREDB_URL names it, and on real ones if EVENTSTOREDB_COMMAND starts them. Stream names are unique, so tests
 * can share a server.
 */
import { connect, credentialsOf } from '../../../src/adapters/eventstoredb/client.js';
import { EventStoreDbStore } from '../../../src/adapters/eventstoredb/event-store.js';
import type { EventStore } from '../../../src/ports/event-store.js';
import type { Features, Open } from '../../contract/contract.js';
import { patience } from '../../runner/patience.js';
import { startEventStore } from '../../services/eventstoredb/event-store-server.js';
import type { ServerVersion } from '../../services/eventstoredb/own-server.js';
import { startRealServer } from '../../services/eventstoredb/real-server.js';
import { AdapterSubject, alone } from './adapter-subject.js';

export const REAL_SERVER: Features = { has: [], patienceMs: 20_000 };
export const TEST_SERVER: Features = { ...REAL_SERVER, has: ['stall'] };

export function openEventStoreDb(url: string, limits = {}, random = Math.random): EventStore {
  const own = { client: connect(url), credentials: credentialsOf(url), random };
  return new EventStoreDbStore({ ...own, limits: { ...unhurried(), ...limits } });
}

/** The adapter's own times, longer on a busy machine: tests of other behaviour must not hit them. */
function unhurried() {
  const times = patience();
  return { tryMs: 5_000 * times, appendMs: 8_000 * times, silenceMs: 8_000 * times, headMs: 4_000 * times };
}

/** For a silent server: too short for anything else on a busy machine. */
const HASTY = { tryMs: 400, appendMs: 1_500, headMs: 1_500 };

export function onTestServer(version: ServerVersion): Open<EventStore> {
  return async (features) => {
    const server = await startEventStore({ version });
    let limits = {};
    const open = () => alone(openEventStoreDb(server.url, limits));
    const stall = async () => {
      limits = HASTY;
      await subject.reopen();
      server.faults.silent('append', 'read', 'subscribe');
      return async () => server.faults.clear();
    };
    const subject = new AdapterSubject(features, open, { stall, close: () => server.stop() });
    return subject;
  };
}

/** An existing, shared server. */
export function onRealServer(url: string): Open<EventStore> {
  return async (features) => new AdapterSubject(features, () => alone(openEventStoreDb(url)));
}

/** One server per case. */
export function onStartedServer(program: string): Open<EventStore> {
  return async (features) => {
    const { url, stop } = await startRealServer(program);
    return new AdapterSubject(features, () => alone(openEventStoreDb(url)), { close: stop });
  };
}
