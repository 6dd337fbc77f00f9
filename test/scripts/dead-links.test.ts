import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadLinks } from '../../scripts/dead-links.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const OTHER = [
  '# The `serve` command, and *more*',
  '## Twice',
  '## Twice ##',
  '## A [link](README.md) to_it: 2 + 2',
  '<a id="written"></a>',
  '```sh',
  '# no heading',
  '```',
].join('\n');

let folder: ReturnType<typeof temporaryDirectory>;

beforeEach(() => {
  folder = temporaryDirectory();
  plant('docs/other.md', OTHER);
  plant('docs/plots/a b.svg', '<svg/>');
});
afterEach(() => folder.remove());

function plant(path: string, text: string): void {
  mkdirSync(dirname(join(folder.path, path)), { recursive: true });
  writeFileSync(join(folder.path, path), text);
}

function deadIn(text: string): readonly string[] {
  plant('README.md', text);
  return deadLinks(folder.path, ['README.md']);
}

test.each([
  '[a](docs/other.md) and [a folder](docs/plots)',
  '[a](docs/other.md#the-serve-command-and-more "with a title")',
  '[a](docs/other.md#twice), [b](docs/other.md#twice-1) and [c](docs/other.md#a-link-to_it-2--2)',
  '[a](<docs/other.md#written>)',
  '![a plot](docs/plots/a%20b.svg)',
  '# Here\n\n[a](#here)',
  '[a][b]\n\n[b]: docs/other.md',
  '[a](https://example.com/nowhere#x), [b](mailto:nobody@example.com) and [c](//example.com)',
  'code: `[a](nowhere.md)`\n\n````md\n```\n[a](nowhere.md)\n```\n````\n',
])('leads somewhere: %s', (text) => {
  expect(deadIn(text)).toEqual([]);
});

test.each([
  ['[a](docs/nowhere.md)', 'docs/nowhere.md: no such file'],
  ['[a](other.md)', 'other.md: no such file'],
  ['[a](../README.md)', '../README.md: no such file'],
  ['![a](docs/plots/a.svg)', 'docs/plots/a.svg: no such file'],
  ['[a](docs/other.md#twice-2)', 'docs/other.md#twice-2: no such heading'],
  ['[a](docs/other.md#Twice)', 'docs/other.md#Twice: no such heading'],
  ['[a](docs/other.md#no-heading)', 'docs/other.md#no-heading: no such heading'],
  ['[a](#nowhere)', '#nowhere: no such heading'],
  ['[a](%zz)', '%zz: no such file'],
  ['[a][b]\n\n[b]: nowhere.md', 'nowhere.md: no such file'],
  ['a stray ` here\n\n[a](nowhere.md) and ` there', 'nowhere.md: no such file'],
])('leads nowhere: %s', (text, why) => {
  const line = text.split('\n\n').length === 1 ? 1 : 3;
  expect(deadIn(text)).toEqual([`README.md:${line}: ${why}`]);
});

test('the documents have none', () => {
  const script = fileURLToPath(new URL('../../scripts/check-links.js', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});
