/** Writes a document anew, or its tables: document.js docs/settings.md. Run by make. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApp } from '../src/composition/app.js';
import { createLogger } from '../src/observability/logger.js';
import { readConfig } from '../src/settings/read-config.js';
import { apiMarkdown } from './api-markdown.js';
import { WITH_TABLES } from './tables-of-source.js';

const [path] = process.argv.slice(2);
const text = path === 'docs/api.md' ? apiMarkdown(await openApi()) : WITH_TABLES[path](readFileSync(path, 'utf8'));
writeFileSync(path, text);

/** The /openapi.json of a service of these sources. */
async function openApi() {
  const folder = mkdtempSync(join(tmpdir(), 'api-document-'));
  const config = readConfig({ DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0' });
  const app = await startApp(config, ['api'], createLogger('error'));
  try {
    return await (await fetch(`http://127.0.0.1:${app.apiPort}/openapi.json`)).json();
  } finally {
    await app.close();
    rmSync(folder, { recursive: true });
  }
}
