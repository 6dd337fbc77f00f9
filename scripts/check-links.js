/** Ends with code 1 where a link of the documents leads nowhere, and says which. Run by make. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadLinks } from './dead-links.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const inFolder = (folder) => readdirSync(join(ROOT, folder), { recursive: true }).map((path) => join(folder, path));
const paths = [...readdirSync(ROOT), ...inFolder('docs')].filter((path) => path.endsWith('.md'));
const dead = deadLinks(ROOT, paths);
for (const line of dead) process.stderr.write(`${line}\n`);
process.exitCode = dead.length > 0 ? 1 : 0;
