/** That `make lint` finds what nothing imports: its configuration, on a tree that has some. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '../support/temporary-directory.js';
import { ROOT } from './cruise.js';

const PLANTED = {
  'package.json': '{ "name": "planted", "type": "module", "dependencies": { "unused-package": "1.0.0" } }',
  'src/main.ts': `import { used } from './some.js';\nimport { tested } from './some.js';\nused(tested);\n`,
  'src/some.ts':
    'export const used = console.log;\nexport const tested = 1;\nexport const unused = 2;\nexport type Unused = 3;\n',
  'src/lost.ts': 'export const lost = 1;\n',
  'scripts/run-by-make.js': 'export {};\n',
};

test('it names them, nothing that is used or run, and fails', () => {
  const { path, remove } = temporaryDirectory();
  for (const [name, text] of Object.entries(PLANTED)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  for (const name of ['knip.config.js', 'tsconfig.json']) copyFileSync(join(ROOT, name), join(path, name));
  const knip = join(ROOT, 'node_modules/knip/bin/knip.js');
  const { status, stdout } = spawnSync(process.execPath, [knip, '--directory', path], { encoding: 'utf8' });
  remove();
  expect(
    stdout
      .trim()
      .split(/ *\n/)
      .map((line) => line.replace(/ +/g, ' ')),
  ).toEqual([
    ...['Unused files (1)', 'src/lost.ts'],
    ...['Unused dependencies (1)', expect.stringMatching(/^unused-package package[.]json/)],
    ...['Unused exports (1)', expect.stringMatching(/^unused src\/some[.]ts/)],
    ...['Unused exported types (1)', expect.stringMatching(/^Unused type src\/some[.]ts/)],
  ]);
  expect(status).toBe(1);
});
