/** The plugin of the bundle, with esbuild, on two packages. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { jsonBeside } from '../../scripts/json-beside.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const LARGE = JSON.stringify({ table: 'x'.repeat(20_000) });
const SMALL = JSON.stringify({ answer: 42 });

let folder: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  folder = temporaryDirectory();
});
afterEach(() => folder.remove());

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

async function bundled(entry: string): Promise<{ files: string[]; written: Set<string>; load: () => unknown }> {
  plant('entry.cjs', entry);
  const outdir = join(folder.path, 'dist');
  const written = new Set<string>();
  const options = { bundle: true, platform: 'node', format: 'cjs', logLevel: 'silent' } as const;
  const plugins = [jsonBeside(outdir, written)];
  await build({ ...options, absWorkingDir: folder.path, entryPoints: ['entry.cjs'], outdir, plugins });
  const load = () => createRequire(join(outdir, 'x.js'))('./entry.js') as unknown;
  return { files: readdirSync(outdir).sort(), written, load };
}

test('equal large files of two packages are one file beside the bundle, which is read from there', async () => {
  plant('node_modules/one/data.json', LARGE);
  plant('node_modules/two/data.json', LARGE);
  const entry =
    "module.exports = [require('one/data.json'), require('two/data.json')].map(({ table }) => table.length);";
  const { files, written, load } = await bundled(entry);
  const [data = '', code = ''] = files;
  expect(files).toEqual([expect.stringMatching(/^data-data-[0-9a-f]{8}\.json$/), 'entry.js']);
  expect([...written]).toEqual([data]);
  expect(readFileSync(join(folder.path, 'dist', code), 'utf8').length).toBeLessThan(5_000);
  rmSync(join(folder.path, 'node_modules'), { recursive: true });
  expect(load()).toEqual([20_000, 20_000]);
});

test.each([
  ['a small one of a package', 'node_modules/one/data.json', SMALL, 'one/data.json'],
  ['a large one of our own', 'data.json', LARGE, './data.json'],
])('%s stays within the bundle', async (_, path, text, name) => {
  plant(path, text);
  const { files, written, load } = await bundled(`module.exports = require('${name}');`);
  expect([files, written.size]).toEqual([['entry.js'], 0]);
  expect(load()).toEqual(JSON.parse(text));
});
