/**
 * The EventStoreDB that a test has for itself: the test server in this process, or a real one where EVENTSTOREDB_COMMAND
 * names the program that starts one (real-server.ts). This is the one place that chooses.
 */
import { describe } from '@jest/globals';
import { startEventStore } from './event-store-server.js';
import { startRealServer } from './real-server.js';

export interface OwnServer {
  readonly url: string;
  readonly port: number;
  /** At once: connections are reset. */
  kill(): Promise<void>;
  /** After a kill: on the same port, with what was stored. */
  revive(): Promise<void>;
  /** Ends it, and removes its data. */
  stop(): Promise<void>;
}

/** Null where the test server stands for it. */
export const REAL_PROGRAM = process.env.EVENTSTOREDB_COMMAND || null;

export function startOwnServer(): Promise<OwnServer> {
  return REAL_PROGRAM ? startRealServer(REAL_PROGRAM) : startTestServer();
}

async function startTestServer(): Promise<OwnServer> {
  let server = await startEventStore();
  const { url, port, data } = server;
  return {
    url,
    port,
    kill: () => server.kill(),
    revive: async () => {
      server = await startEventStore({ port, data });
    },
    stop: () => server.stop(),
  };
}

/** For tests that ask for faults or look into `server.data`: skipped, by name, where a real server takes the place. */
export function needsTestServer(define: () => void): void {
  if (REAL_PROGRAM) describe.skip('[LEFT OUT: A REAL EVENTSTOREDB HAS NO FAULTS ON DEMAND AND SHOWS NO DATA]', define);
  else define();
}
