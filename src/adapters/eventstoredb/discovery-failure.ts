/**
 * Why no member of a cluster was found. Hazard of @eventstore/db-client 6.2.1 (Client/discovery.js): it drops the error of
 * each member, and passes it only to its debug log.
 */
import { createRequire } from 'node:module';

type Log = (...about: unknown[]) => void;

const require = createRequire(import.meta.url);
const FAILED = /^Failed to (get cluster list|resolve dns)/;
let last: string | null = null;
let isInstalled = false;

/** For every client in this process, once. */
export function keepDiscoveryFailures(): void {
  if (isInstalled) return;
  const { debug } = require('@eventstore/db-client/dist/utils/debug.js') as { debug: { connection: Log } };
  const { connection } = debug;
  debug.connection = (text, ...more) => {
    if (FAILED.test(String(text))) last = String(more[0]);
    connection(text, ...more);
  };
  isInstalled = true;
}

/** The last member's, in words of gRPC; null if none has failed. */
export function lastDiscoveryFailure(): string | null {
  return last;
}
