/** Prints docs/api.md, as a service of these sources describes itself. Run by make. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../src/app.js';
import { createLogger } from '../src/observability/logger.js';
import { readConfig } from '../src/settings/read-config.js';
import { apiMarkdown } from './api-markdown.js';

const folder = mkdtempSync(join(tmpdir(), 'api-document-'));
const config = readConfig({ DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0' });
const app = await startApp(config, ['api'], createLogger('error'));
try {
  const answer = await fetch(`http://127.0.0.1:${app.apiPort}/openapi.json`);
  process.stdout.write(apiMarkdown(await answer.json()));
} finally {
  await app.close();
  rmSync(folder, { recursive: true });
}
