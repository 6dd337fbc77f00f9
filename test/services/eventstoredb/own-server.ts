/**
 * The EventStoreDB that a test has for itself: the test server in this process, or a real one where EVENTSTOREDB_COMMAND
 * names the program that starts one (real-server.ts). This is the one place that chooses.
 */
import type { EventStoreOptions } from './event-store-server.js';
import type { StoredData } from './stored-data.js';

/**
 * The servers that the test server can stand for: EventStoreDB 23.10 and KurrentDB 25 differ in what a client sees of them.
 * EVENTSTOREDB_VERSION makes all test servers one of them.
 */
export const SERVER_VERSIONS = ['23.10', '25'] as const;
export type ServerVersion = (typeof SERVER_VERSIONS)[number];

export const DEFAULT_VERSION: ServerVersion = versionOf(process.env.EVENTSTOREDB_VERSION) ?? '23.10';

function versionOf(text: string | undefined): ServerVersion | undefined {
  if (!text) return undefined;
  const version = SERVER_VERSIONS.find((each) => each === text);
  if (!version) throw new Error(`EVENTSTOREDB_VERSION is ${text}; it may be ${SERVER_VERSIONS.join(' or ')}`);
  return version;
}

export interface OwnServer {
  readonly url: string;
  readonly port: number;
  /** At once: connections are reset. */
  kill(): Promise<void>;
  /** After a kill: on the same port, with what was stored. */
  revive(): Promise<void>;
  /** Of the log as it is now. @returns what kills the server and starts it again with that log, as often as wanted */
  backup(): Promise<() => Promise<void>>;
  /** Kills it, and starts it with an empty log. What is appended then is another history. */
  empty(): Promise<void>;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
}

/** Null where the test server stands for it. */
export const REAL_PROGRAM = process.env.EVENTSTOREDB_COMMAND || null;

/** Those to test: a real one is what it is, and EVENTSTOREDB_VERSION says which. */
export const VERSIONS: readonly [ServerVersion, ...ServerVersion[]] =
  REAL_PROGRAM || process.env.EVENTSTOREDB_VERSION ? [DEFAULT_VERSION] : SERVER_VERSIONS;

/** Loaded where a server is started: most files of the tests start none, and gRPC takes long to load. @param options users, TLS and the like: only within needsTestServer, because a real one takes none */
export async function startOwnServer(options: EventStoreOptions = {}): Promise<OwnServer> {
  if (!REAL_PROGRAM) return startTestServer(options);
  const { version: _, ...others } = options;
  if (Object.keys(others).length > 0)
    throw new Error('a real EventStoreDB is started without options: see needsTestServer');
  const { startRealServer } = await import('./real-server.js');
  return startRealServer(REAL_PROGRAM);
}

async function startTestServer(options: EventStoreOptions): Promise<OwnServer> {
  const [{ startEventStore }, { StoredData }] = await Promise.all([
    import('./event-store-server.js'),
    import('./stored-data.js'),
  ]);
  let server = await startEventStore(options);
  const { url, port } = server;
  const startWith = async (data: StoredData) => {
    server = await startEventStore({ ...options, port, data });
  };
  const replace = async (data: StoredData) => {
    await server.kill();
    await startWith(data);
  };
  return {
    url,
    port,
    kill: () => server.kill(),
    revive: () => startWith(server.data),
    backup: async () => {
      const kept = server.data.copy();
      return () => replace(kept.copy());
    },
    empty: () => replace(new StoredData()),
    stop: () => server.stop(),
  };
}

/** For tests that ask for faults or look into `server.data`: skipped, by name, where a real server takes the place. */
export function needsTestServer(define: () => void): void {
  if (REAL_PROGRAM) describe.skip('[LEFT OUT: A REAL EVENTSTOREDB HAS NO FAULTS ON DEMAND AND SHOWS NO DATA]', define);
  else define();
}
