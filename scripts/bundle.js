/**
 * Builds dist/main.js and the thread of the deliveries view, and beside them the parts that are loaded when they are needed. A start opens 66 files of JavaScript
 * and JSON, and read 729 with a file for each module: docs/decisions/0006.
 */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { bundleConsole } from './console-bundle.js';

/** Every start loads them, or every call of a service by the command line; what is not here is loaded from node_modules. */
const BUNDLED = [...['@koa/router', 'ajv', 'commander', 'got', 'jose', 'koa', 'lru-cache'], ...['pino', 'undici']];

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const LICENSES = 'licenses.txt';
const written = new Set([LICENSES, 'console']);

const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: { main: 'src/main.ts', 'view-thread': 'src/composition/view-thread.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !BUNDLED.includes(name)),
  // What CommonJS packages ask Node's own modules for.
  banner: {
    js: "import { createRequire as cjsRequire } from 'node:module';const require = cjsRequire(import.meta.url);",
  },
  // Within the bundle they were half of the text that every start parses, and hardly any start asks for them.
  loader: { '.json': 'copy' },
  assetNames: 'data-[name]-[hash]',
  sourcemap: process.env.SOURCE_MAPS ? 'external' : false,
  metafile: true,
  logLevel: 'warning',
});

for (const path of Object.keys(metafile.outputs)) written.add(path.slice('dist/'.length));
const inputs = [...Object.keys(metafile.inputs), ...(await bundleConsole(ROOT, DIST))];
/** Of an earlier build; make's own marks have a dot. */
const stale = readdirSync(DIST).filter((name) => !name.startsWith('.') && !written.has(name));
for (const name of stale) rmSync(join(DIST, name), { recursive: true });

writeFileSync(join(DIST, LICENSES), licenses());
if (!readFileSync(join(DIST, 'main.js'), 'utf8').startsWith('#!')) throw new Error('src/main.ts must begin with #!');
chmodSync(join(DIST, 'main.js'), 0o755);

/** Of the packages in the bundles, and of the icons: each asks for its notice to go with it. */
function licenses() {
  const folders = inputs.map((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const icons = readFileSync(join(ROOT, 'src/console/icons/lucide-license.txt'), 'utf8').trim();
  return [...[...new Set(folders.filter(Boolean))].sort().map(license), icons].join('\n\n');
}

function license(folder) {
  const { name, version, license: kind } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  const file = readdirSync(join(ROOT, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${kind})\n${file ? readFileSync(join(ROOT, folder, file), 'utf8').trim() : ''}`;
}
