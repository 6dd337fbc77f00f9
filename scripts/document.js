/** Writes a document anew, or its tables: document.js docs/settings.md. Run by make. */
import { readFileSync, writeFileSync } from 'node:fs';
import { apiMarkdown } from './api-markdown.js';
import { serviceDocument } from './service-document.js';
import { WITH_TABLES } from './tables-of-source.js';

const [path] = process.argv.slice(2);
const text =
  path === 'docs/api.md' ? apiMarkdown(await serviceDocument()) : WITH_TABLES[path](readFileSync(path, 'utf8'));
writeFileSync(path, text);
