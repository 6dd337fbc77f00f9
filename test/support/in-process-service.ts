/**
 * `serve` within the test's own process, for tests of what a service answers and delivers: a start of Node's takes three
 * quarters of a second of the processor. What is a process's own needs `serve` of service.ts: signals, kill -9, what Node
 * says by itself. That a stop leaves nothing open is seen here, by the leak guard.
 */
import { ROLES, type Role, startApp } from '../../src/app.js';
import { createLogger } from '../../src/observability/logger.js';
import { readConfig } from '../../src/settings/read-config.js';
import type { Settings } from './service.js';

export interface ServiceHere {
  readonly url: string;
  readonly adminUrl: string;
  /** What it logged so far. */
  readonly log: () => string;
  stop(): Promise<void>;
}

export async function serveHere(settings: Settings, roles: readonly Role[] = ROLES): Promise<ServiceHere> {
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0', ...settings });
  let log = '';
  const write = (line: string) => {
    log += line;
  };
  const app = await startApp(config, roles, createLogger(config.logLevel, { write }));
  // Rejected only where the app can't go on: a test that waits for something sees that it does not come.
  app.failed.catch(() => undefined);
  return {
    url: `http://127.0.0.1:${app.apiPort}`,
    adminUrl: `http://127.0.0.1:${app.adminPort}`,
    log: () => log,
    stop: () => app.close(),
  };
}
