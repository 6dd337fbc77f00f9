/** The /openapi.json of a service of these sources. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../src/composition/app.js';
import { createLogger } from '../src/observability/logger.js';
import { readConfig } from '../src/settings/read-config.js';

export async function serviceDocument() {
  const folder = mkdtempSync(join(tmpdir(), 'api-document-'));
  const config = readConfig({ DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0' });
  const app = await startApp(config, ['api'], createLogger('error'));
  try {
    const answer = await fetch(`http://127.0.0.1:${app.apiPort}/openapi.json`);
    return await answer.json();
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
}
