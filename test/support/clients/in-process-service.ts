/**
 * `serve` within the test's own process, for tests of responses and deliveries: a start of Node takes three quarters of
 * a second of CPU time. Tests of a process's own behaviour need `serve` of service.ts: signals, kill -9, Node's own
 * output. The leak guard checks here that a stop leaves nothing open.
 */
import { ROLES, type Role, startApp } from '../../../src/composition/app.js';
import { createLogger } from '../../../src/observability/logger.js';
import { readConfig } from '../../../src/settings/read-config.js';
import type { Settings } from './service.js';

export interface ServiceHere {
  readonly url: string;
  readonly adminUrl: string;
  /** The log so far. */
  readonly log: () => string;
  stop(): Promise<void>;
}

export async function serveHere(settings: Settings, roles: readonly Role[] = ROLES): Promise<ServiceHere> {
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0', ...settings });
  let log = '';
  const write = (line: string) => {
    log += line;
  };
  const app = await startApp(config, roles, createLogger(config.LOG_LEVEL, { write }));
  // Rejected only if the app can't continue: a test that waits for something will notice.
  app.failed.catch(() => undefined);
  return {
    url: `http://127.0.0.1:${app.apiPort}`,
    adminUrl: `http://127.0.0.1:${app.adminPort}`,
    log: () => log,
    stop: () => app.close(),
  };
}
